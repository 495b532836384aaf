// Counts the levels of a tile with private counters in shared memory. The counters of a level lie side by side, so that
// the bank of a counter is its lane, and no two lanes meet.

constexpr int LEVELS = 32;
constexpr int THREADS = 128;
constexpr int TILE = 65536;  // pixels

__device__ int place(int thread, int level)
{
    return level * THREADS + thread;
}

// Launch: grid pixels / 65536, block 128.
extern "C" __global__ void __launch_bounds__(THREADS)
count_by_level(const uint4* __restrict__ levels, unsigned* __restrict__ counts)
{
    __shared__ unsigned counters[THREADS * LEVELS];
    const int thread = threadIdx.x;
    for (int i = thread; i < THREADS * LEVELS; i += THREADS)
        counters[i] = 0;
    __syncthreads();

    const uint4* tile = levels + (size_t)blockIdx.x * (TILE / 16);
    for (int i = thread; i < TILE / 16; i += THREADS) {
        const uint4 pixels = tile[i];
        const unsigned words[4] = {pixels.x, pixels.y, pixels.z, pixels.w};
#pragma unroll
        for (int byte = 0; byte < 16; ++byte)
            ++counters[place(thread, words[byte / 4] >> byte % 4 * 8 & 31u)];
    }
    __syncthreads();

    if (thread < LEVELS) {
        unsigned count = 0;
        // Each lane begins with another thread's counter, so that the sums are free of conflicts in any layout.
        for (int t = 0; t < THREADS; ++t)
            count += counters[place((t + thread) % THREADS, thread)];
        counts[blockIdx.x * LEVELS + thread] = count;
    }
}
