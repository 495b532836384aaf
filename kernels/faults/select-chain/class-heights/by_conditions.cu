// A map whose cells store a height in four bits, eight cells per word: the sum of the heights per word. The heights of the classes
// stand in a chain of conditions.

__device__ float height_of(unsigned class_of_cell) {
    float height = 905.0f;
    height = class_of_cell == 0 ? -11.0f : height;
    height = class_of_cell == 1 ? -3.5f : height;
    height = class_of_cell == 2 ? -0.4f : height;
    height = class_of_cell == 3 ? 0.3f : height;
    height = class_of_cell == 4 ? 1.7f : height;
    height = class_of_cell == 5 ? 4.1f : height;
    height = class_of_cell == 6 ? 7.6f : height;
    height = class_of_cell == 7 ? 12.9f : height;
    height = class_of_cell == 8 ? 20.2f : height;
    height = class_of_cell == 9 ? 33.0f : height;
    height = class_of_cell == 10 ? 57.5f : height;
    height = class_of_cell == 11 ? 96.0f : height;
    height = class_of_cell == 12 ? 160.0f : height;
    height = class_of_cell == 13 ? 290.0f : height;
    height = class_of_cell == 14 ? 510.0f : height;
    return height;
}

// Launch: grid (words / 256), block 256.
extern "C" __global__ void add_up(const unsigned* __restrict__ words, float* __restrict__ sums)
{
    const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    const unsigned word = words[i];
    float sum = 0.0f;
    for (int cell = 0; cell < 8; cell++)
        sum += height_of(word >> (4 * cell) & 15);
    sums[i] = sum;
}
