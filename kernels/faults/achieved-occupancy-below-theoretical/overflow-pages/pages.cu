// Totals of hash buckets whose entries lie in chained pages, as in a database's overflow file. A page holds 64 words: word 0 is the
// number of the page after it in the chain, the others are amounts in pence. A warp follows one chain.

constexpr unsigned ALL = 0xffffffffu;

// Sum over the warp; every lane gets it.
__device__ __forceinline__ unsigned total(unsigned value)
{
#pragma unroll
    for (int d = 16; d > 0; d >>= 1)
        value += __shfl_xor_sync(ALL, value, d);
    return value;
}

// Launch: grid buckets / (warps a block), block a multiple of 32. `head` is a bucket's first page, `length` its count of pages.
extern "C" __global__ void __launch_bounds__(BLOCK)
bucket_totals(const uint2* __restrict__ pages, const unsigned* __restrict__ head, const unsigned* __restrict__ length,
              unsigned* __restrict__ sums, int buckets)
{
    const int bucket = (blockIdx.x * BLOCK + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (bucket >= buckets)
        return;
    unsigned page = head[bucket], sum = 0;
#pragma unroll 1
    for (unsigned left = length[bucket]; left > 0; --left) {
        const uint2 entry = pages[(size_t)page * 32 + lane];
        page = __shfl_sync(ALL, entry.x, 0);
        sum += entry.y + (lane > 0 ? entry.x : 0);
    }
    sum = total(sum);
    if (lane == 0)
        sums[bucket] = sum;
}
