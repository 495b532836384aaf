// The radiance of each pixel of a thermal image: Planck's law at several wave lengths. ACCURATE takes expf and a
// division that rounds correctly; ALONG_ROWS has the lanes of a warp next to each other in a row instead of in 32
// rows.

#ifndef LENGTHS
#define LENGTHS 8
#endif

#ifdef ACCURATE
#define EXPONENTIAL expf
#define QUOTIENT(a, b) ((a) / (b))
#else
#define EXPONENTIAL __expf
#define QUOTIENT(a, b) __fdividef(a, b)
#endif

// Launch: grid (width / 32, height / 32), block 256: a block has 32 x 32 pixels, a thread four.
extern "C" __global__ void __launch_bounds__(256)
radiate(const float* __restrict__ kelvins, float* __restrict__ radiances, int width)
{
    const int lane = threadIdx.x % 32;
#pragma unroll 1
    for (int line = threadIdx.x / 32; line < 32; line += 8) {
#ifdef ALONG_ROWS
        const int x = lane, y = line;
#else
        const int x = line, y = lane;
#endif
        const size_t pixel = ((size_t)blockIdx.y * 32 + y) * width + blockIdx.x * 32 + x;
        const float kelvin = kelvins[pixel];
        float radiance = 0.0f;
#pragma unroll 2
        for (int k = 0; k < LENGTHS; ++k) {
            const float inverse = 1.0f / LENGTHS * (k + 1);  // of a wave length, in steps that suit the detector
            const float x = QUOTIENT(1800.0f * inverse, kelvin);
            radiance += QUOTIENT(inverse * inverse * inverse, EXPONENTIAL(x) - 1.0f);
        }
        radiances[pixel] = radiance;
    }
}
