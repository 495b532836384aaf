// The summary of a digitiser's run: how many samples clipped, the sum of all, the highest and lowest. Samples are 16 bits, two
// in a word. Each block adds its part to the run's summary.

struct Summary {
    unsigned clipped, sum, highest, lowest;  // lowest as 65535 - sample, so that all four start at 0
};

__device__ __forceinline__ void take(Summary& s, unsigned sample)
{
    s.clipped += sample >= 65472u;
    s.sum += sample >> 11;
    s.highest = max(s.highest, sample);
    s.lowest = max(s.lowest, 65535u - sample);
}

// Launch: a block, which clears the summary.
extern "C" __global__ void begin(unsigned* __restrict__ summary)
{
    summary[threadIdx.x] = 0;
}

// Launch: grid words / 8192, block 512: four times four words a thread.
extern "C" __global__ void __launch_bounds__(512)
summarise(const uint4* __restrict__ samples, unsigned* __restrict__ summary)
{
    Summary own = {0, 0, 0, 0};
    const size_t first = (size_t)blockIdx.x * 2048 + threadIdx.x;
    uint4 words[4];
#pragma unroll
    for (int j = 0; j < 4; ++j)
        words[j] = samples[first + 512 * j];
#pragma unroll
    for (int j = 0; j < 4; ++j) {
        const unsigned part[4] = {words[j].x, words[j].y, words[j].z, words[j].w};
#pragma unroll
        for (int k = 0; k < 4; ++k) {
            take(own, part[k] & 0xffffu);
            take(own, part[k] >> 16);
        }
    }
    own.clipped = __reduce_add_sync(0xffffffffu, own.clipped);
    own.sum = __reduce_add_sync(0xffffffffu, own.sum);
    own.highest = __reduce_max_sync(0xffffffffu, own.highest);
    own.lowest = __reduce_max_sync(0xffffffffu, own.lowest);

    __shared__ Summary warps[16];
    if (threadIdx.x % 32 == 0)
        warps[threadIdx.x / 32] = own;
    __syncthreads();
    if (threadIdx.x >= 32)
        return;
    if (threadIdx.x < 16)
        own = warps[threadIdx.x];
    else
        own = {0, 0, 0, 0};
    own.clipped = __reduce_add_sync(0xffffffffu, own.clipped);
    own.sum = __reduce_add_sync(0xffffffffu, own.sum);
    own.highest = __reduce_max_sync(0xffffffffu, own.highest);
    own.lowest = __reduce_max_sync(0xffffffffu, own.lowest);
    if (threadIdx.x == 0) {
        atomicAdd(&summary[0], own.clipped);
        atomicAdd(&summary[1], own.sum);
        atomicMax(&summary[2], own.highest);
        atomicMax(&summary[3], own.lowest);
    }
}
