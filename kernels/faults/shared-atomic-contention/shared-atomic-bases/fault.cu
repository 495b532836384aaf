// Sums of read quality by base, collected with atomics in shared memory. There are four sums, so about eight lanes of a
// warp meet at each.

constexpr int THREADS = 384;
constexpr int QUADS = 32;    // words of four bases a thread
constexpr int COPIES = 1;    // of each sum

// Launch: a block for every 49152 bases, block 384. `partial` gets four sums a block.
extern "C" __global__ void __launch_bounds__(THREADS)
qualities_by_base(const unsigned* __restrict__ bases, const unsigned* __restrict__ qualities,
                  unsigned* __restrict__ partial)
{
    __shared__ unsigned sums[4 * COPIES];
    const int t = threadIdx.x;
    if (t < 4 * COPIES)
        sums[t] = 0;
    __syncthreads();

    const size_t first = (size_t)blockIdx.x * (THREADS * QUADS) + t;
#pragma unroll 4
    for (int q = 0; q < QUADS; ++q) {
        const unsigned base = bases[first + q * THREADS];
        const unsigned quality = qualities[first + q * THREADS];
#pragma unroll
        for (int shift = 0; shift < 32; shift += 8)
            atomicAdd(&sums[(base >> shift & 3) * COPIES + t % COPIES], quality >> shift & 63);
    }
    __syncthreads();

    if (t < 4) {
        unsigned sum = 0;
        for (int copy = 0; copy < COPIES; ++copy)
            sum += sums[t * COPIES + copy];
        partial[blockIdx.x * 4 + t] = sum;
    }
}
