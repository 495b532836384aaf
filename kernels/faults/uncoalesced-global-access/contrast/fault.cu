// A contrast curve over an image. A thread takes 32 pixels of its row one after the other, as a CPU would: the lanes of
// a warp are a row apart in every load and store.

// Launch: grid (width / 32, height / 256), block 256.
extern "C" __global__ void curve_along_rows(const float* __restrict__ image, float* __restrict__ curved, int width)
{
    const size_t first = ((size_t)blockIdx.y * 256 + threadIdx.x) * width + blockIdx.x * 32;
#pragma unroll 4
    for (int k = 0; k < 32; ++k) {
        const size_t i = first + k;
        const float pixel = 1.4f * image[i] - 0.2f;
        curved[i] = fminf(fmaxf(pixel, 0.0f), 1.0f);
    }
}
