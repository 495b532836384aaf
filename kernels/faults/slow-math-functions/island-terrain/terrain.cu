// Heights of an island that repeats at its edges: six octaves of ridged value noise on lattices that wrap, blended by cosines.

constexpr int OCTAVES = 6;
constexpr float PI = 3.14159265f;

#ifdef LIBRARY
__device__ __forceinline__ float blend(float f) { return 0.5f - 0.5f * cosf(PI * f); }
__device__ __forceinline__ float ridge(float n, float sharpness) { return powf(n, sharpness); }
#else
__device__ __forceinline__ float blend(float f) { return 0.5f - 0.5f * __cosf(PI * f); }
__device__ __forceinline__ float ridge(float n, float sharpness) { return __powf(n, sharpness); }
#endif

// The lattice points on either side, and where between them.
struct Between {
    unsigned low, high;
    float share;
};

__device__ __forceinline__ Between between(float place, unsigned period)
{
    const unsigned cell = (unsigned)place;
    Between b;
#ifdef BY_REMAINDER
    b.low = cell % period;
    b.high = (cell + 1) % period;
#else
    b.low = cell;
    b.high = cell + 1 == period ? 0 : cell + 1;
#endif
    b.share = blend(place - cell);
    return b;
}

__device__ __forceinline__ float noise(unsigned x, unsigned y, unsigned seed)
{
    unsigned h = x * 0x9E3779B1u + y * 0x85EBCA6Bu + seed;
    h = (h ^ h >> 15) * 0x2C1B3C6Du;
    return (h >> 8) * (1.0f / 16777216.0f);
}

__device__ __forceinline__ float mix(float a, float b, float share) { return fmaf(share, b - a, a); }

// Launch: grid (size / 64, size / 8), block (64, 8).
extern "C" __global__ void __launch_bounds__(512)
heights(float* __restrict__ height, int size, unsigned periods_across, unsigned periods_down, float scale_across, float scale_down,
        unsigned seed, float sharpness)
{
    const int x = blockIdx.x * 64 + threadIdx.x;
    const int y = blockIdx.y * 8 + threadIdx.y;
    if (x >= size || y >= size)
        return;
    float sum = 0.0f, weight = 0.5f;
#pragma unroll 1
    for (int octave = 0; octave < OCTAVES; ++octave) {
        const Between across = between(x * scale_across, periods_across), down = between(y * scale_down, periods_down);
        const float top = mix(noise(across.low, down.low, seed + octave), noise(across.high, down.low, seed + octave), across.share);
        const float bottom = mix(noise(across.low, down.high, seed + octave), noise(across.high, down.high, seed + octave),
                                 across.share);
        const float n = fabsf(2.0f * mix(top, bottom, down.share) - 1.0f);
        sum = fmaf(weight, ridge(1.0f - 0.9f * n, sharpness), sum);
        weight *= 0.5f;
        scale_across *= 2.0f;
        scale_down *= 2.0f;
        periods_across *= 2;
        periods_down *= 2;
    }
    height[y * size + x] = sum;
}
