// Small cantilevers that stiffen as they bend (Duffing's equation), by symplectic steps in half precision. Two cantilevers lie
// in a word; a thread takes a word.

__device__ __forceinline__ unsigned short product(unsigned short a, unsigned short b)
{
    unsigned short d;
    asm("mul.rn.f16 %0, %1, %2;" : "=h"(d) : "h"(a), "h"(b));
    return d;
}

__device__ __forceinline__ unsigned short madd(unsigned short a, unsigned short b, unsigned short c)
{
    unsigned short d;
    asm("fma.rn.f16 %0, %1, %2, %3;" : "=h"(d) : "h"(a), "h"(b), "h"(c));
    return d;
}

__device__ __forceinline__ unsigned product(unsigned a, unsigned b)
{
    unsigned d;
    asm("mul.rn.f16x2 %0, %1, %2;" : "=r"(d) : "r"(a), "r"(b));
    return d;
}

__device__ __forceinline__ unsigned madd(unsigned a, unsigned b, unsigned c)
{
    unsigned d;
    asm("fma.rn.f16x2 %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(c));
    return d;
}

constexpr unsigned ONE = 0x3c003c00, STEP = 0x2a662a66, MINUS_STEP = 0xaa66aa66;  // 1, 0.05 and -0.05, twice each

// Where it is after the steps, from rest at x. T is a half or a pair of them.
template<typename T>
__device__ __forceinline__ T swing(T x, T stiffening, int steps)
{
    T v = 0;
#pragma unroll 4
    for (int s = 0; s < steps; ++s) {
        const T stiffness = madd(stiffening, product(x, x), (T)ONE);
        v = madd(product(stiffness, x), (T)MINUS_STEP, v);
        x = madd(v, (T)STEP, x);
    }
    return x;
}

// Launch: grid ceil(words / 352), block 352.
extern "C" __global__ void __launch_bounds__(352)
bend(const unsigned* __restrict__ start, const unsigned* __restrict__ stiffening, unsigned* __restrict__ end, int words,
     int steps)
{
    const int i = blockIdx.x * 352 + threadIdx.x;
    if (i >= words)
        return;
    const unsigned x = start[i], k = stiffening[i];
#ifdef TOGETHER
    end[i] = swing<unsigned>(x, k, steps);
#else
    unsigned both = 0;
#pragma unroll 1
    for (int shift = 0; shift < 32; shift += 16)
        both |= (unsigned)swing<unsigned short>(x >> shift, k >> shift, steps) << shift;
    end[i] = both;
#endif
}
