// Reduction, step 7: as fast as memory delivers.
//
// What is left is the stream of values itself. Each lane loads 16 bytes at a time and issues four loads before it
// needs the first, so that all warps together keep enough bytes on their way; the values pass by L1, where nobody
// would find them again. A warp adds up by shuffles, and a barrier is met once a block. And the block that finishes
// last adds the blocks' sums, so that there is no second launch.

#ifndef ELEMENT
#define ELEMENT float
#endif
using T = ELEMENT;
#ifndef IN_FLIGHT
#define IN_FLIGHT 4  // 16-byte loads that a lane issues before it needs the first
#endif
constexpr unsigned THREADS = 512, WARPS = THREADS / 32;
constexpr unsigned TILE = THREADS * IN_FLIGHT;  // quads that a block takes at a time

struct Quad {
    T x, y, z, w;
};

// Four values that are read once, here: they need no place in L1.
__device__ __forceinline__ Quad load_once(const Quad* address)
{
    uint4 bits;
    asm("ld.global.nc.L1::no_allocate.v4.b32 {%0, %1, %2, %3}, [%4];"
        : "=r"(bits.x), "=r"(bits.y), "=r"(bits.z), "=r"(bits.w)
        : "l"(__cvta_generic_to_global(address)));
    static_assert(sizeof(Quad) == sizeof(uint4), "a quad is one access");
    Quad quad;
    memcpy(&quad, &bits, sizeof quad);
    return quad;
}

__device__ __forceinline__ T sum_of(const Quad& quad)
{
    return (quad.x + quad.y) + (quad.z + quad.w);
}

// The sum over the lanes of a warp; whole in lane 0 only.
__device__ __forceinline__ T sum_warp(T value)
{
    for (int offset = 16; offset > 0; offset /= 2)
        value += __shfl_down_sync(0xffffffffu, value, offset);
    return value;
}

// The sum over the threads of the block; whole in thread 0 only.
__device__ __forceinline__ T sum_block(T value)
{
    __shared__ T of_warp[WARPS];
    value = sum_warp(value);
    if (threadIdx.x % 32 == 0)
        of_warp[threadIdx.x / 32] = value;
    __syncthreads();
    if (threadIdx.x < 32)
        value = sum_warp(threadIdx.x < WARPS ? of_warp[threadIdx.x] : T(0));
    return value;
}

// Launch: block 512, any grid. `partials` takes a sum a block; `finished` is 0 before the launch and after it.
// `values` is 16-byte aligned.
extern "C" __global__ void __launch_bounds__(THREADS)
reduce_stream(const T* __restrict__ values, T* partials, unsigned* finished, T* sum, unsigned n)
{
    const Quad* quads = (const Quad*)values;
    const unsigned count = n / 4;
    T total = 0;

    // Whole tiles, then what is left of the last one, then up to three values that fill no quad.
    size_t start = (size_t)blockIdx.x * TILE;
    const size_t stride = (size_t)gridDim.x * TILE;
    for (; start + TILE <= count; start += stride) {
        const Quad* tile = quads + start + threadIdx.x;
        Quad quad[IN_FLIGHT];
#pragma unroll
        for (unsigned u = 0; u < IN_FLIGHT; ++u)
            quad[u] = load_once(tile + u * THREADS);
#pragma unroll
        for (unsigned u = 0; u < IN_FLIGHT; ++u)
            total += sum_of(quad[u]);
    }
    for (size_t i = start + threadIdx.x; i < count; i += THREADS)
        total += sum_of(load_once(quads + i));
    if (blockIdx.x == 0 && threadIdx.x < n % 4)
        total += values[4 * count + threadIdx.x];

    total = sum_block(total);

    // The fence orders this block's sum before its count: whoever counts last sees all sums.
    __shared__ bool last;
    if (threadIdx.x == 0) {
        partials[blockIdx.x] = total;
        __threadfence();
        last = atomicAdd(finished, 1u) == gridDim.x - 1;
    }
    __syncthreads();
    if (!last)
        return;
    __threadfence();

    total = 0;
    for (unsigned block = threadIdx.x; block < gridDim.x; block += THREADS)
        total += __ldcg(partials + block);
    total = sum_block(total);
    if (threadIdx.x == 0) {
        *sum = total;
        *finished = 0;
    }
}
