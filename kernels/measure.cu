// What `adoprof doctor --measure` runs to learn a device's rates and latencies. Kernels store a result that depends
// on every value that they load, and loads are volatile assembly, so that the compiler leaves all of them in.

typedef unsigned long long u64;

// Sixteen bytes, past L1.
__device__ __forceinline__ uint4 load_past_l1(const uint4* at)
{
    uint4 v;
    asm volatile("ld.global.cg.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "l"(at));
    return v;
}

// One load for the price of three instructions: what is read must be used.
__device__ __forceinline__ unsigned folded(uint4 v)
{
    return v.x ^ v.y ^ v.z ^ v.w;
}

// Reads `quads` times 16 bytes `rounds` times. `quads` is a multiple of four times the threads of the grid.
// `out` has one word, which is written only if the values say so.
extern "C" __global__ void read_quads(const uint4* __restrict__ from, u64 quads, unsigned rounds, unsigned* out)
{
    const u64 threads = (u64)gridDim.x * blockDim.x;
    const u64 first = (u64)blockIdx.x * blockDim.x + threadIdx.x;
    unsigned sum = 0;
    for (unsigned round = 0; round < rounds; ++round) {
        for (u64 i = first; i < quads; i += 4 * threads) {
            const uint4 a = load_past_l1(from + i);
            const uint4 b = load_past_l1(from + i + threads);
            const uint4 c = load_past_l1(from + i + 2 * threads);
            const uint4 d = load_past_l1(from + i + 3 * threads);
            sum ^= folded(a) ^ folded(b) ^ folded(c) ^ folded(d);
        }
    }
    if (sum == 0x9e3779b9u)
        out[0] = sum;
}

// The same once, eight loads for each thread of a grid that covers `8 * gridDim.x * blockDim.x` quads.
extern "C" __global__ void read_tiles(const uint4* __restrict__ from, unsigned* out)
{
    const uint4* at = from + (u64)blockIdx.x * blockDim.x * 8 + threadIdx.x;
    uint4 v[8];
#pragma unroll
    for (int i = 0; i < 8; ++i)
        v[i] = load_past_l1(at + (u64)i * blockDim.x);
    unsigned sum = 0;
#pragma unroll
    for (int i = 0; i < 8; ++i)
        sum ^= folded(v[i]);
    if (sum == 0x9e3779b9u)
        out[0] = sum;
}

// Eight chains of 64 multiply-adds per turn in each thread: 512 in all. `cycles` has one word per block.
extern "C" __global__ void multiply_add(unsigned turns, float factor, float addend, u64* cycles, float* out)
{
    float x[8];
#pragma unroll
    for (int i = 0; i < 8; ++i)
        x[i] = (float)(threadIdx.x + i);
    __syncthreads();
    const long long start = clock64();
    for (unsigned turn = 0; turn < turns; ++turn) {
#pragma unroll
        for (int step = 0; step < 64; ++step) {
#pragma unroll
            for (int i = 0; i < 8; ++i)
                x[i] = fmaf(x[i], factor, addend);
        }
    }
    float sum = 0.0f;
#pragma unroll
    for (int i = 0; i < 8; ++i)
        sum += x[i];
    // The clock is read after all results are there.
    if (sum == 0.123456789f)
        out[0] = sum;
    __syncthreads();
    if (threadIdx.x == 0)
        cycles[blockIdx.x] = (u64)(clock64() - start);
}

// Nothing.
extern "C" __global__ void nothing()
{
}

// Spins for so many cycles; writes the cycles and the nanoseconds that this took.
extern "C" __global__ void spin(u64 least, u64* out)
{
    u64 begin, end;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(begin));
    const long long start = clock64();
    long long now;
    do {
        now = clock64();
    } while ((u64)(now - start) < least);
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(end));
    out[0] = (u64)(now - start);
    out[1] = end - begin;
}

// The first lane of each warp adds to the one word `times` times, without asking for the old value.
extern "C" __global__ void add_integers(unsigned* word, unsigned times)
{
    if (threadIdx.x % 32 == 0)
        for (unsigned i = 0; i < times; ++i)
            asm volatile("red.global.add.u32 [%0], %1;" : : "l"(word), "r"(1u) : "memory");
}

// The same with floats.
extern "C" __global__ void add_floats(float* word, unsigned times)
{
    if (threadIdx.x % 32 == 0)
        for (unsigned i = 0; i < times; ++i)
            asm volatile("red.global.add.f32 [%0], %1;" : : "l"(word), "f"(1.0f) : "memory");
}

// Links `count` places, a power of two, `stride` words of 8 bytes apart, into one circle in an order that no prefetcher
// guesses: i to a i + c modulo count meets all places, as c is odd and a is 1 modulo 4 (Hull and Dobell 1962).
extern "C" __global__ void link(u64* base, unsigned count, unsigned stride)
{
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) {
        const unsigned next = (1664525u * i + 1013904223u) & (count - 1);
        base[(u64)i * stride] = (u64)(base + (u64)next * stride);
    }
}

// Overwrites `quads` times 16 bytes, which pushes everything else out of L2.
extern "C" __global__ void overwrite(uint4* to, u64 quads)
{
    const u64 threads = (u64)gridDim.x * blockDim.x;
    for (u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x; i < quads; i += threads)
        to[i] = make_uint4(1, 2, 3, 4);
}

// Follows the circle, one thread: first `warm` steps without a clock, then `steps`, both multiples of 16.
// Writes the cycles of those, and where it ended.
#define CHASE(name, instruction)                                            \
    extern "C" __global__ void name(const u64* base, unsigned warm, unsigned steps, u64* out) \
    {                                                                       \
        u64 at = (u64)base;                                                 \
        for (unsigned i = 0; i < warm; i += 16) {                           \
            _Pragma("unroll") for (int j = 0; j < 16; ++j)                  \
                asm volatile(instruction " %0, [%0];" : "+l"(at) : : "memory"); \
        }                                                                   \
        const long long start = clock64();                                  \
        for (unsigned i = 0; i < steps; i += 16) {                          \
            _Pragma("unroll") for (int j = 0; j < 16; ++j)                  \
                asm volatile(instruction " %0, [%0];" : "+l"(at) : : "memory"); \
        }                                                                   \
        out[1] = at;                                                        \
        __threadfence();                                                    \
        out[0] = (u64)(clock64() - start);                                  \
    }

CHASE(chase_l1, "ld.global.ca.u64")
CHASE(chase_past_l1, "ld.global.cg.u64")

// The same in shared memory, over 1024 words.
extern "C" __global__ void chase_shared(unsigned steps, u64* out)
{
    __shared__ unsigned circle[1024];
    const unsigned base = (unsigned)__cvta_generic_to_shared(circle);
    for (unsigned i = threadIdx.x; i < 1024; i += blockDim.x)
        circle[i] = base + 4 * ((1664525u * i + 1013904223u) & 1023);
    __syncthreads();
    unsigned at = base;
    const long long start = clock64();
    for (unsigned i = 0; i < steps; i += 16) {
        _Pragma("unroll") for (int j = 0; j < 16; ++j)
            asm volatile("ld.shared.u32 %0, [%0];" : "+r"(at) : : "memory");
    }
    out[1] = at;
    __threadfence();
    out[0] = (u64)(clock64() - start);
}
