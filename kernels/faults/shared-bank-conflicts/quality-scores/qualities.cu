// Distribution of base qualities in each tile of a flow cell: 64 scores in 32 bins of two. Every thread counts for itself, and
// in the end the block adds up what its threads counted.

constexpr int BINS = 32;
constexpr int THREADS = 128;
constexpr int ROUNDS = 32;  // of 16 scores a thread

#ifdef BY_THREAD
#define COUNT(bin, thread) counts[(thread) * BINS + (bin)]
#else
#define COUNT(bin, thread) counts[(bin) * THREADS + (thread)]
#endif

__device__ void count_four(unsigned* counts, unsigned four)
{
#pragma unroll
    for (int k = 0; k < 4; ++k)
        ++COUNT(four >> (8 * k + 1) & 31, threadIdx.x);
}

// Launch: a block of 128 a tile. Scores are below 64.
extern "C" __global__ void __launch_bounds__(THREADS)
distribution(const uint4* __restrict__ scores, unsigned* __restrict__ bins)
{
    __shared__ unsigned counts[BINS * THREADS];
    for (int k = threadIdx.x; k < BINS * THREADS; k += THREADS)
        counts[k] = 0;
    __syncthreads();

    const uint4* own = scores + (size_t)blockIdx.x * ROUNDS * THREADS + threadIdx.x;
    uint4 next = own[0];
#pragma unroll 1
    for (int round = 0; round < ROUNDS; ++round) {
        const uint4 now = next;
        if (round + 1 < ROUNDS)
            next = own[(round + 1) * THREADS];
        count_four(counts, now.x);
        count_four(counts, now.y);
        count_four(counts, now.z);
        count_four(counts, now.w);
    }
    __syncthreads();

    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
#ifdef BY_THREAD
    // A warp adds up the counts of 32 threads, a bin a lane.
    unsigned sum = 0;
    for (int t = 0; t < 32; ++t)
        sum += COUNT(lane, 32 * warp + t);
    __syncthreads();
    counts[warp * BINS + lane] = sum;
    __syncthreads();
    if (warp == 0)
        bins[blockIdx.x * BINS + lane] =
            counts[lane] + counts[BINS + lane] + counts[2 * BINS + lane] + counts[3 * BINS + lane];
#else
    // A warp adds up eight bins, four threads a lane.
    for (int bin = warp; bin < BINS; bin += THREADS / 32) {
        unsigned sum = COUNT(bin, lane) + COUNT(bin, lane + 32) + COUNT(bin, lane + 64) + COUNT(bin, lane + 96);
        sum = __reduce_add_sync(~0u, sum);
        if (lane == 0)
            bins[blockIdx.x * BINS + bin] = sum;
    }
#endif
}
