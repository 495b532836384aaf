// Brightness of interference fringes: the sum of the fringes of 24 spectral lines.
// __cosf is a multiplication and a special function.

// Launch: grid pixels / 160, block 160.
extern "C" __global__ void __launch_bounds__(160)
fringes(const float* __restrict__ paths, float* __restrict__ brightness)
{
    const unsigned pixel = blockIdx.x * 160 + threadIdx.x;
    const float path = paths[pixel];
    float sum = 0.0f;
#pragma unroll 4
    for (int line = 1; line <= 24; ++line)
        sum += 1.0f + __cosf(path * line);
    brightness[pixel] = sum;
}
