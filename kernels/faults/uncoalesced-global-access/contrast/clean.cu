// A contrast curve over an image. A thread takes 32 pixels of its column from top to bottom: the lanes of a warp are
// neighbours in every load and store.

// Launch: grid (width / 256, height / 32), block 256.
extern "C" __global__ void curve_down_columns(const float* __restrict__ image, float* __restrict__ curved, int width)
{
    const size_t first = (size_t)blockIdx.y * 32 * width + blockIdx.x * 256 + threadIdx.x;
#pragma unroll 4
    for (int k = 0; k < 32; ++k) {
        const size_t i = first + (size_t)k * width;
        const float pixel = 1.4f * image[i] - 0.2f;
        curved[i] = fminf(fmaxf(pixel, 0.0f), 1.0f);
    }
}
