// Adds the echoes of a sweep to cells of halves, two neighbours at once.

__device__ unsigned short to_half(float value)
{
    unsigned short half;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(half) : "f"(value));
    return half;
}

extern "C" __global__ void clear(unsigned* words) { words[blockIdx.x * blockDim.x + threadIdx.x] = 0; }

extern "C" __global__ void add(const unsigned char* __restrict__ echoes, unsigned* words)
{
    const unsigned at = blockIdx.x * blockDim.x + threadIdx.x;
    const unsigned x = at % 1024, y = at / 1024 % 1024, sweep = at / (1024 * 1024);
    const unsigned cell = (sweep * 512 + y / 2) * 512 + x / 2;
    const unsigned half = to_half(echoes[at]);
    const unsigned pair = cell % 2 ? half << 16 : half;
    asm volatile("red.global.add.noftz.f16x2 [%0], %1;" : : "l"(words + cell / 2), "r"(pair) : "memory");
}
