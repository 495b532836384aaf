// Birds that pass a radar, counted by kind. A warp's counts are fenced before the next, as an order that nobody needs asks for;
// or each block counts in shared memory, and adds its counts once.

#define KINDS 256
#define PER_THREAD 16

// Launch: grid 1, block KINDS.
extern "C" __global__ void __launch_bounds__(KINDS)
clear(unsigned* __restrict__ counts)
{
    counts[threadIdx.x] = 0;
}

#ifdef ONE_BY_ONE
// Launch: grid birds / (256 * PER_THREAD), block 256.
extern "C" __global__ void __launch_bounds__(256)
count_kinds(const unsigned char* __restrict__ kinds, unsigned* counts)
{
    const int first = blockIdx.x * 256 * PER_THREAD + threadIdx.x;
    for (int k = 0; k < PER_THREAD; ++k) {
        __threadfence();
        atomicAdd(&counts[kinds[first + k * 256]], 1u);
        __threadfence();
    }
}
#else
// Launch: grid birds / (256 * PER_THREAD), block 256.
extern "C" __global__ void __launch_bounds__(256)
count_kinds(const unsigned char* __restrict__ kinds, unsigned* counts)
{
    __shared__ unsigned of_block[KINDS];
    for (int kind = threadIdx.x; kind < KINDS; kind += 256)
        of_block[kind] = 0;
    __syncthreads();
    const int first = blockIdx.x * 256 * PER_THREAD + threadIdx.x;
    for (int k = 0; k < PER_THREAD; ++k)
        atomicAdd(&of_block[kinds[first + k * 256]], 1u);
    __syncthreads();
    for (int kind = threadIdx.x; kind < KINDS; kind += 256)
        if (of_block[kind] > 0)
            atomicAdd(&counts[kind], of_block[kind]);
}
#endif
