// What `adoprof check` reads clocks with, and what `adoprof bench --gate` compares: kernels that do a part of their
// work twice, by a number, so that a slow-down of a known size can be planted.

typedef unsigned long long u64;

__device__ __forceinline__ u64 nanoseconds()
{
    u64 now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    return now;
}

// One thread counts cycles from one tick of the timer to the first that comes `least` nanoseconds later: the timer's
// ticks may be a microsecond apart, and between two of them it tells nothing. Writes cycles and nanoseconds.
extern "C" __global__ void read_clock(unsigned place, unsigned least, u64* out)
{
    const u64 before = nanoseconds();
    u64 begin = before;
    while (begin == before)
        begin = nanoseconds();
    const long long start = clock64();
    u64 end = begin;
    while (end - begin < least)
        end = nanoseconds();
    const long long stop = clock64();
    out[2 * place] = (u64)(stop - start);
    out[2 * place + 1] = end - begin;
}

// Memory: scales `blocks` tiles of 1024 quads. Blocks beyond them scale the first tiles again.
extern "C" __global__ void scale_tiles(const float4* __restrict__ from, float4* __restrict__ to, unsigned blocks)
{
    const u64 tile = (u64)(blockIdx.x % blocks) * 1024 + threadIdx.x;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
        float4 v = from[tile + i * 256];
        v.x *= 2.0f;
        v.y *= 2.0f;
        v.z *= 2.0f;
        v.w *= 2.0f;
        to[tile + i * 256] = v;
    }
}

// Arithmetic: eight chains of eight multiply-adds per turn in each thread.
extern "C" __global__ void multiply_add_turns(unsigned turns, float factor, float addend, float* out)
{
    float x[8];
#pragma unroll
    for (int i = 0; i < 8; ++i)
        x[i] = (float)(threadIdx.x + i);
#pragma unroll 1
    for (unsigned turn = 0; turn < turns; ++turn) {
#pragma unroll
        for (int step = 0; step < 8; ++step) {
#pragma unroll
            for (int i = 0; i < 8; ++i)
                x[i] = fmaf(x[i], factor, addend);
        }
    }
    float sum = 0.0f;
#pragma unroll
    for (int i = 0; i < 8; ++i)
        sum += x[i];
    if (sum == 0.123456789f)
        out[0] = sum;
}

// Latency: each thread follows a path of its own through a table of `mask + 1` words, whatever the table holds.
extern "C" __global__ void gather_steps(const unsigned* table, unsigned mask, unsigned steps, unsigned* out)
{
    unsigned at = blockIdx.x * blockDim.x + threadIdx.x;
#pragma unroll 1
    for (unsigned step = 0; step < steps; ++step)
        at = 1664525u * at + 1013904223u + (__ldcg(table + ((at >> 7) & mask)) & 1u);
    if (at == 0x9e3779b9u)
        out[0] = at;
}
