// The area under spectral lines, sampled at 48 frequencies. Lines of four shapes lie one shape after another.
// Threads are dealt out to the shapes in turn, so the lanes of a warp take four branches.

constexpr int SAMPLES = 48;
constexpr float STEP = 0.125f;

// Launch: grid lines / 192, block 192.
extern "C" __global__ void __launch_bounds__(192)
areas(const float* __restrict__ widths, float* __restrict__ areas, unsigned lines)
{
    const unsigned thread = blockIdx.x * 192 + threadIdx.x;
    const unsigned line = thread % 4 * (lines / 4) + thread / 4;
    const unsigned shape = line / (lines / 4);
    const float narrow = 1.0f / widths[line];
    float area = 0.0f;
    if (shape == 0) {  // Gauss
#pragma unroll 4
        for (int k = 0; k < SAMPLES; ++k) {
            const float x = k * STEP * narrow;
            area += __expf(-0.5f * x * x);
        }
    } else if (shape == 1) {  // Lorentz
#pragma unroll 4
        for (int k = 0; k < SAMPLES; ++k) {
            const float x = k * STEP * narrow;
            area += __fdividef(1.0f, 1.0f + x * x);
        }
    } else if (shape == 2) {  // Moffat
#pragma unroll 4
        for (int k = 0; k < SAMPLES; ++k) {
            const float x = k * STEP * narrow;
            area += exp2f(-2.5f * __log2f(1.0f + x * x));
        }
    } else {  // hyperbolic secant
#pragma unroll 4
        for (int k = 0; k < SAMPLES; ++k) {
            const float x = k * STEP * narrow;
            area += __fdividef(2.0f, __expf(x) + __expf(-x));
        }
    }
    areas[line] = area * STEP;
}
