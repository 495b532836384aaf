// A preview of a landscape of value noise, every fourth column of it, a thread for each point of the preview.

__device__ float corner(unsigned x, unsigned y)
{
    unsigned h = x * 0x9e3779b1u ^ y * 0x85ebca6bu;
    h = (h ^ h >> 15) * 0x2c1b3c6du;
    return (h >> 8) * (1.0f / 16777216);
}

// One octave of value noise.
__device__ float octave(float x, float y)
{
    const float left = floorf(x), low = floorf(y);
    const float u = x - left, v = y - low;
    const unsigned i = (unsigned)left, j = (unsigned)low;
    const float a = corner(i, j), b = corner(i + 1, j), c = corner(i, j + 1), d = corner(i + 1, j + 1);
    return fmaf(v, fmaf(u, d - c, c) - fmaf(u, b - a, a), fmaf(u, b - a, a));
}

// Launch: grid (width / 512, rows), block 128.
extern "C" __global__ void __launch_bounds__(128)
preview(const float* __restrict__ base, float* __restrict__ heights, int width, int octaves)
{
    const int x = (blockIdx.x * 128 + threadIdx.x) * 4, y = blockIdx.y;
    float fx = x * (1.0f / 64), fy = y * (1.0f / 64), amplitude = 0.5f, sum = 0.0f;
#pragma unroll 1
    for (int o = 0; o < octaves; ++o) {
        sum = fmaf(amplitude, octave(fx, fy), sum);
        fx *= 1.7f;
        fy *= 1.7f;
        amplitude *= 0.5f;
    }
    heights[y * (width / 4) + x / 4] = base[y * (width / 4) + x / 4] + sum;
}
