// Weighted levels of reservoirs, a block for each. Every thread adds its part to the reservoir's sum in memory, or the block adds up
// its threads' parts first.

// Launch: grid reservoirs / 256, block 256.
extern "C" __global__ void __launch_bounds__(256)
clear(float* __restrict__ sums)
{
    sums[blockIdx.x * 256 + threadIdx.x] = 0.0f;
}

// Launch: grid reservoirs, block 512.
extern "C" __global__ void __launch_bounds__(512)
add_levels(const float* __restrict__ levels, const float* __restrict__ weights, float* sums, int readings)
{
    const size_t first = (size_t)blockIdx.x * readings;
    float sum = 0.0f;
    for (int i = threadIdx.x; i < readings; i += 512)
        sum = fmaf(levels[first + i], weights[first + i], sum);
#ifdef PER_THREAD
    atomicAdd(&sums[blockIdx.x], sum);
#else
    __shared__ float of_warp[16];
    for (int lane = 16; lane > 0; lane /= 2)
        sum += __shfl_down_sync(~0u, sum, lane);
    if (threadIdx.x % 32 == 0)
        of_warp[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x < 16) {
        sum = of_warp[threadIdx.x];
        for (int lane = 8; lane > 0; lane /= 2)
            sum += __shfl_down_sync(0xffffu, sum, lane);
        if (threadIdx.x == 0)
            atomicAdd(&sums[blockIdx.x], sum);
    }
#endif
}
