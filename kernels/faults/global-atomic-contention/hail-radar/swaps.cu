// Adds the echoes of a sweep to cells of halves, each by a compare-and-swap of the word around it.

__device__ float to_float(unsigned short half)
{
    float value;
    asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(half));
    return value;
}

__device__ unsigned short to_half(float value)
{
    unsigned short half;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(half) : "f"(value));
    return half;
}

__device__ void add_to_half(unsigned* words, unsigned cell, float value)
{
    unsigned* word = words + cell / 2;
    const bool is_high = cell % 2;
    unsigned seen = *word, assumed;
    do {
        assumed = seen;
        const float sum = to_float(is_high ? assumed >> 16 : assumed & 0xffff) + value;
        const unsigned half = to_half(sum);
        const unsigned next = is_high ? (assumed & 0xffff) | (half << 16) : (assumed & 0xffff0000) | half;
        seen = atomicCAS(word, assumed, next);
    } while (seen != assumed);
}

extern "C" __global__ void clear(unsigned* words) { words[blockIdx.x * blockDim.x + threadIdx.x] = 0; }

extern "C" __global__ void add(const unsigned char* __restrict__ echoes, unsigned* words)
{
    const unsigned at = blockIdx.x * blockDim.x + threadIdx.x;
    const unsigned x = at % 1024, y = at / 1024 % 1024, sweep = at / (1024 * 1024);
    add_to_half(words, (sweep * 512 + y / 2) * 512 + x / 2, echoes[at]);
}
