// A soft limiter for half-precision samples: x (1.5 - x^2 / 2), 48 times. Two samples lie in a word.
// Each is computed on its own, and half of every instruction's lanes stays empty.

constexpr int ROUNDS = 48;

__device__ unsigned short product(unsigned short a, unsigned short b)
{
    unsigned short result;
    asm("mul.rn.f16 %0, %1, %2;" : "=h"(result) : "h"(a), "h"(b));
    return result;
}

__device__ unsigned short fused(unsigned short a, unsigned short b, unsigned short c)
{
    unsigned short result;
    asm("fma.rn.f16 %0, %1, %2, %3;" : "=h"(result) : "h"(a), "h"(b), "h"(c));
    return result;
}

// Launch: grid words / 512, block 512.
extern "C" __global__ void __launch_bounds__(512)
limit(const unsigned* __restrict__ samples, unsigned* __restrict__ limited)
{
    const size_t i = (size_t)blockIdx.x * 512 + threadIdx.x;
    const unsigned word = samples[i];
    unsigned both = 0;
#pragma unroll 1
    for (int shift = 0; shift < 32; shift += 16) {
        unsigned short sample = word >> shift;
#pragma unroll 8
        for (int round = 0; round < ROUNDS; ++round)
            sample = product(sample, fused(product(sample, sample), 0xb800, 0x3e00));  // -0.5 and 1.5
        both |= (unsigned)sample << shift;
    }
    limited[i] = both;
}
