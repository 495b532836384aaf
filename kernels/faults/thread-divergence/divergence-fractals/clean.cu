// Dwell of points under four maps, which take turns from point to point. A warp takes every fourth of 128 points: all of
// its lanes have the same map.

// Launch: grid n / 256, block 256. n is a multiple of 256.
extern "C" __global__ void __launch_bounds__(256)
dwell(const float* __restrict__ cx, const float* __restrict__ cy, unsigned* __restrict__ turns, int limit)
{
    const unsigned t = blockIdx.x * 256 + threadIdx.x;
    const unsigned i = t / 128 * 128 + t % 32 * 4 + t / 32 % 4;
    const float a = cx[i], b = cy[i];
    float x = 0.0f, y = 0.0f;
    unsigned count = 0;
    switch (i % 4) {
    case 0:  // Mandelbrot
#pragma unroll 4
        for (int n = 0; n < limit; ++n) {
            const float xx = x * x, yy = y * y;
            count += xx + yy < 4.0f;
            y = fmaf(2.0f * x, y, b);
            x = xx - yy + a;
        }
        break;
    case 1:  // burning ship
#pragma unroll 4
        for (int n = 0; n < limit; ++n) {
            const float xx = x * x, yy = y * y;
            count += xx + yy < 4.0f;
            y = fmaf(2.0f * fabsf(x), fabsf(y), b);
            x = xx - yy - a;
        }
        break;
    case 2:  // tricorn
#pragma unroll 4
        for (int n = 0; n < limit; ++n) {
            const float xx = x * x, yy = y * y;
            count += xx + yy < 4.0f;
            y = fmaf(-2.0f * x, y, b);
            x = xx - yy + a;
        }
        break;
    default:  // cubic
#pragma unroll 4
        for (int n = 0; n < limit; ++n) {
            const float xx = x * x, yy = y * y;
            count += xx + yy < 4.0f;
            x = fmaf(x, fmaf(-3.0f, yy, xx), a);
            y = fmaf(y, fmaf(3.0f, xx, -yy), b);
        }
    }
    turns[i] = count;
}
