// Heat in columns of frozen ground, 12 layers each, in half precision: explicit steps under a warming surface. Two columns
// share a 32-bit word, layer by layer. A thread follows both.

constexpr int LAYERS = 12;

#ifdef COLUMN_BY_COLUMN
using Number = unsigned short;
__device__ __forceinline__ Number add(Number a, Number b)
{
    Number d;
    asm("add.rn.f16 %0, %1, %2;" : "=h"(d) : "h"(a), "h"(b));
    return d;
}
__device__ __forceinline__ Number fma(Number a, Number b, Number c)
{
    Number d;
    asm("fma.rn.f16 %0, %1, %2, %3;" : "=h"(d) : "h"(a), "h"(b), "h"(c));
    return d;
}
__device__ __forceinline__ Number constant(unsigned short bits) { return bits; }
#else
using Number = unsigned;
__device__ __forceinline__ Number add(Number a, Number b)
{
    Number d;
    asm("add.rn.f16x2 %0, %1, %2;" : "=r"(d) : "r"(a), "r"(b));
    return d;
}
__device__ __forceinline__ Number fma(Number a, Number b, Number c)
{
    Number d;
    asm("fma.rn.f16x2 %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(c));
    return d;
}
__device__ __forceinline__ Number constant(unsigned short bits) { return bits * 0x10001u; }
#endif

struct Column {
    Number t[LAYERS];

    // Sweeps from the surface, which is at 1, down to the last layer, under which no heat flows.
    __device__ __forceinline__ void run(int steps)
    {
        const Number minus_two = constant(0xc000), diffusion = constant(0x3400), surface = constant(0x3c00);
#pragma unroll 2
        for (int s = 0; s < steps; ++s) {
            Number above = surface;
#pragma unroll
            for (int l = 0; l < LAYERS; ++l) {
                const Number here = t[l], below = l + 1 < LAYERS ? t[l + 1] : here;
                t[l] = fma(diffusion, fma(minus_two, here, add(above, below)), here);
                above = t[l];
            }
        }
    }
};

// Launch: grid over the pairs of columns, block 224.
extern "C" __global__ void __launch_bounds__(224)
thaw(const unsigned* __restrict__ before, unsigned* __restrict__ after, int pairs, int steps)
{
    const int p = blockIdx.x * 224 + threadIdx.x;
    if (p >= pairs)
        return;
#ifdef COLUMN_BY_COLUMN
    Column first, second;
#pragma unroll
    for (int l = 0; l < LAYERS; ++l) {
        const unsigned both = before[(size_t)l * pairs + p];
        first.t[l] = both & 0xffff;
        second.t[l] = both >> 16;
    }
    first.run(steps);
    second.run(steps);
#pragma unroll
    for (int l = 0; l < LAYERS; ++l)
        after[(size_t)l * pairs + p] = first.t[l] | (unsigned)second.t[l] << 16;
#else
    Column both;
#pragma unroll
    for (int l = 0; l < LAYERS; ++l)
        both.t[l] = before[(size_t)l * pairs + p];
    both.run(steps);
#pragma unroll
    for (int l = 0; l < LAYERS; ++l)
        after[(size_t)l * pairs + p] = both.t[l];
#endif
}
