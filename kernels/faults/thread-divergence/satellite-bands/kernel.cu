// Calibrates the four bands of a satellite's pixels, which lie interleaved. Each band has a model of its own, iterated to
// its fixed point. Lanes that go pixel by pixel through the bands need all four models in each warp.

constexpr int STEPS = 64;

__device__ float calibrate(int band, float count)
{
    float x = count;
    switch (band) {
    case 0:  // detector with a square response
#pragma unroll 4
        for (int k = 0; k < STEPS; ++k)
            x = fmaf(0.25f, fmaf(-x, x, count), x);
        break;
    case 1:  // with a cubic one
#pragma unroll 4
        for (int k = 0; k < STEPS; ++k)
            x = fmaf(-0.125f, fmaf(x * x, x, -count), x);
        break;
    case 2:  // a square one with an offset and stray light
#pragma unroll 4
        for (int k = 0; k < STEPS; ++k) {
            const float stray = fmaf(0.0625f, x, 0.03f);
            x = fmaf(0.2f, count - fmaf(x, x, stray), x);
        }
        break;
    default:  // saturating
#pragma unroll 4
        for (int k = 0; k < STEPS; ++k)
            x = fmaf(0.5f, count * fmaf(-0.3f, x, 1.0f) - x, x);
    }
    return x;
}

// Launch: grid pixels / 64, block 256. Value b of pixel p lies at counts[4 * p + b].
extern "C" __global__ void __launch_bounds__(256)
calibrate_bands(const float* __restrict__ counts, float* __restrict__ radiances)
{
#ifdef BAND_BY_WARP
    const int warp = threadIdx.x / 32;
    const int band = warp % 4;
    const int pixel = warp / 4 * 32 + threadIdx.x % 32;
#else
    const int band = threadIdx.x % 4;
    const int pixel = threadIdx.x / 4;
#endif
    const unsigned i = blockIdx.x * 256 + pixel * 4 + band;
    radiances[i] = calibrate(band, counts[i]);
}
