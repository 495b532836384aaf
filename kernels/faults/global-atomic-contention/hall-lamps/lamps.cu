// How much light each lamp of a large hall gives the floor: blocks have tiles of 16 x 16 points, and a list of the 32 lamps that
// reach their tile. A point adds what it gets from a lamp to that lamp's total.

constexpr int LISTED = 32;  // lamps per tile

// Launch: any grid, block 256.
extern "C" __global__ void clear(float* __restrict__ total, int lamps)
{
    for (int lamp = blockIdx.x * 256 + threadIdx.x; lamp < lamps; lamp += gridDim.x * 256)
        total[lamp] = 0.0f;
}

// Launch: one block of 16 x 16 threads per tile.
extern "C" __global__ void __launch_bounds__(256)
light(const unsigned* __restrict__ lists, const float4* __restrict__ lamps, float* __restrict__ total)
{
    __shared__ unsigned listed[LISTED];
    const int thread = threadIdx.y * 16 + threadIdx.x;
    const int tile = blockIdx.y * gridDim.x + blockIdx.x;
    if (thread < LISTED)
        listed[thread] = lists[tile * LISTED + thread];
    __syncthreads();
    const float x = threadIdx.x * 0.1f, y = threadIdx.y * 0.1f;
    for (int k = 0; k < LISTED; ++k) {
        const unsigned number = listed[k];
        const float4 lamp = lamps[number];  // x, y, height, and strength
        const float dx = x - lamp.x, dy = y - lamp.y;
        const float squared = dx * dx + dy * dy + lamp.z * lamp.z;
        float got = lamp.w * lamp.z * rsqrtf(squared) / squared;
#ifdef PER_WARP
        for (int apart = 16; apart > 0; apart /= 2)
            got += __shfl_down_sync(~0u, got, apart);
        if (thread % 32 == 0)
#endif
            atomicAdd(&total[number], got);
    }
}
