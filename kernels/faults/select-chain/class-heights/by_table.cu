// A map whose cells store a height in four bits, eight cells per word: the sum of the heights per word. The heights of the classes
// stand in a table in shared memory.

__constant__ float levels[16] = {-11.0f, -3.5f, -0.4f, 0.3f, 1.7f, 4.1f, 7.6f, 12.9f,
                                 20.2f, 33.0f, 57.5f, 96.0f, 160.0f, 290.0f, 510.0f, 905.0f};

// Launch: grid (words / 256), block 256.
extern "C" __global__ void add_up(const unsigned* __restrict__ words, float* __restrict__ sums)
{
    __shared__ float height[16];
    if (threadIdx.x < 16)
        height[threadIdx.x] = levels[threadIdx.x];
    __syncthreads();
    const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    const unsigned word = words[i];
    float sum = 0.0f;
    for (int cell = 0; cell < 8; cell++)
        sum += height[word >> (4 * cell) & 15];
    sums[i] = sum;
}
