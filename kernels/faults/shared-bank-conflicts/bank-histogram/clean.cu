// Grey levels by private histograms in shared memory, interleaved: the counters of a thread all lie in its own bank.

constexpr int THREADS = 64;
constexpr int BINS = 64;
constexpr int QUADS = 256;  // words of four pixels a thread

__device__ int place(int thread, int bin)
{
    return bin * THREADS + thread;
}

// Launch: a block for every 65536 pixels, block 64. `partial` gets 64 counts a block.
extern "C" __global__ void __launch_bounds__(THREADS)
grey_levels(const unsigned* __restrict__ pixels, unsigned* __restrict__ partial)
{
    __shared__ unsigned counts[THREADS * BINS];
    const int t = threadIdx.x;
    for (int i = t; i < THREADS * BINS; i += THREADS)
        counts[i] = 0;
    __syncthreads();

    const unsigned* own = pixels + (size_t)blockIdx.x * (THREADS * QUADS) + t;
#pragma unroll 4
    for (int q = 0; q < QUADS; ++q) {
        const unsigned quad = own[q * THREADS];
        ++counts[place(t, quad >> 2 & 63)];
        ++counts[place(t, quad >> 10 & 63)];
        ++counts[place(t, quad >> 18 & 63)];
        ++counts[place(t, quad >> 26)];
    }
    __syncthreads();

    unsigned sum = 0;
    for (int i = 0; i < THREADS; ++i)
        sum += counts[place((i + t) % THREADS, t)];
    partial[blockIdx.x * BINS + t] = sum;
}
