// The height of a sea on a grid of points, as a sum of waves. ACCURATE takes sinf, which reduces its argument to a
// quadrant and evaluates a polynomial; the other the sine of the special-function unit.

#ifdef ACCURATE
#define SINE sinf
#else
#define SINE __sinf
#endif

// Launch: grid (width / 64, height / 4), block (64, 4). A wave is two wave numbers, a phase and an amplitude.
extern "C" __global__ void __launch_bounds__(256)
raise_waves(const float4* __restrict__ waves, float* __restrict__ surface, int count, int width)
{
    const int x = blockIdx.x * 64 + threadIdx.x, y = blockIdx.y * 4 + threadIdx.y;
    const float east = 0.05f * x, north = 0.05f * y;
    float height = 100.0f;
#pragma unroll 2
    for (int k = 0; k < count; ++k) {
        const float4 wave = waves[k];
        height += wave.w * SINE(wave.x * east + (wave.y * north + wave.z));
    }
    surface[(size_t)y * width + x] = height;
}
