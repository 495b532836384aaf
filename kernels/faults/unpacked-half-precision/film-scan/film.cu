// Scanned film: half-precision densities become exposures, by inverting the film's curve y = x - c1 x^2 - ... - c5 x^6 in rounds of a
// fixed-point iteration. Each thread takes eight neighbouring densities.

#ifdef SINGLY
struct Half {
    unsigned short bits;
};
__device__ __forceinline__ Half mad(Half x, Half y, Half z)
{
    Half r;
    asm("fma.rn.f16 %0, %1, %2, %3;" : "=h"(r.bits) : "h"(x.bits), "h"(y.bits), "h"(z.bits));
    return r;
}
__device__ __forceinline__ Half number(float value)
{
    Half r;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(r.bits) : "f"(value));
    return r;
}
#else
// Two numbers.
struct Half {
    unsigned bits;
};
__device__ __forceinline__ Half mad(Half x, Half y, Half z)
{
    Half r;
    asm("fma.rn.f16x2 %0, %1, %2, %3;" : "=r"(r.bits) : "r"(x.bits), "r"(y.bits), "r"(z.bits));
    return r;
}
__device__ __forceinline__ Half number(float value)
{
    Half r;
    asm("cvt.rn.f16x2.f32 %0, %1, %1;" : "=r"(r.bits) : "f"(value));
    return r;
}
#endif

struct Curve {
    Half c1, c2, c3, c4, c5;

    __device__ __forceinline__ Half inverted(Half y, int rounds) const
    {
        Half x = y;
#pragma unroll 4
        for (int round = 0; round < rounds; ++round) {
            Half p = mad(c5, x, c4);
            p = mad(p, x, c3);
            p = mad(p, x, c2);
            p = mad(p, x, c1);
            p = mad(p, x, number(0.0f));
            x = mad(p, x, y);
        }
        return x;
    }
};

// Both densities of a word.
__device__ __forceinline__ unsigned inverted_word(const Curve& curve, unsigned word, int rounds)
{
#ifdef SINGLY
    const Half low = curve.inverted({(unsigned short)word}, rounds), high = curve.inverted({(unsigned short)(word >> 16)}, rounds);
    return low.bits | (unsigned)high.bits << 16;
#else
    return curve.inverted({word}, rounds).bits;
#endif
}

// Launch: block 160 over eighths of the densities.
extern "C" __global__ void __launch_bounds__(160)
expose(const uint4* __restrict__ density, uint4* __restrict__ exposure, int eighths, int rounds, float c1, float c2, float c3,
       float c4, float c5)
{
    const int i = blockIdx.x * 160 + threadIdx.x;
    if (i >= eighths)
        return;
    const Curve curve{number(c1), number(c2), number(c3), number(c4), number(c5)};
    const uint4 y = density[i];
    exposure[i] = make_uint4(inverted_word(curve, y.x, rounds), inverted_word(curve, y.y, rounds), inverted_word(curve, y.z, rounds),
                             inverted_word(curve, y.w, rounds));
}
