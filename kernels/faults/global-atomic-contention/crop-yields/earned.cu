// What fields earn over all seasons. A block takes one season and adds to the fields' sums in memory, or a thread takes all seasons of
// its field.

// Launch: grid fields / 256, block 256.
extern "C" __global__ void __launch_bounds__(256)
clear(float* __restrict__ earned)
{
    earned[blockIdx.x * 256 + threadIdx.x] = 0.0f;
}

#ifdef BLOCK_PER_SEASON
// Launch: grid (fields / 256, seasons), block 256.
extern "C" __global__ void __launch_bounds__(256)
add_up(const float* __restrict__ yields, const float* __restrict__ prices, float* earned, int fields, int)
{
    const int field = blockIdx.x * 256 + threadIdx.x;
    const int season = blockIdx.y;
    atomicAdd(&earned[field], yields[(size_t)season * fields + field] * prices[season]);
}
#else
// Launch: grid fields / 256, block 256.
extern "C" __global__ void __launch_bounds__(256)
add_up(const float* __restrict__ yields, const float* __restrict__ prices, float* __restrict__ earned, int fields, int seasons)
{
    const int field = blockIdx.x * 256 + threadIdx.x;
    float sum = 0.0f;
    for (int season = 0; season < seasons; ++season)
        sum = fmaf(yields[(size_t)season * fields + field], prices[season], sum);
    earned[field] = sum;
}
#endif
