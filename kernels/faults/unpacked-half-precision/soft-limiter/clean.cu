// A soft limiter for half-precision samples: x (1.5 - x^2 / 2), 48 times. Two samples lie in a word.
// An instruction computes both.

constexpr int ROUNDS = 48;

__device__ unsigned product(unsigned a, unsigned b)
{
    unsigned result;
    asm("mul.rn.f16x2 %0, %1, %2;" : "=r"(result) : "r"(a), "r"(b));
    return result;
}

__device__ unsigned fused(unsigned a, unsigned b, unsigned c)
{
    unsigned result;
    asm("fma.rn.f16x2 %0, %1, %2, %3;" : "=r"(result) : "r"(a), "r"(b), "r"(c));
    return result;
}

// Launch: grid words / 512, block 512.
extern "C" __global__ void __launch_bounds__(512)
limit(const unsigned* __restrict__ samples, unsigned* __restrict__ limited)
{
    const size_t i = (size_t)blockIdx.x * 512 + threadIdx.x;
    const unsigned word = samples[i];
    unsigned both = word;
#pragma unroll 8
    for (int round = 0; round < ROUNDS; ++round)
        both = product(both, fused(product(both, both), 0xb800b800, 0x3e003e00));  // -0.5 and 1.5, twice
    limited[i] = both;
}
