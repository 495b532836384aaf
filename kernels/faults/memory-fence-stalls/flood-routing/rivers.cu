// Floods run down rivers of 32 reaches by Muskingum's method: what leaves a reach depends on what came from the reach above before and
// in this step. A warp has a river, a lane a reach; outflows are handed down the river through shared memory, and written step by step.

constexpr int RIVERS = 4;  // of a block

// Shares of this step's inflow, the last one's and the last outflow; they add up to one.
struct Reach {
    float now, before, stored;
};

// Makes the outflow visible to the lane of the next reach, before anybody reads it.
__device__ __forceinline__ void hand_over(float* place, float outflow)
{
    *place = outflow;
#ifdef FENCE
    FENCE();
#endif
    __syncwarp();
}

// Launch: grid rivers / 4, block (32, 4).
extern "C" __global__ void __launch_bounds__(32 * RIVERS)
route(const float* __restrict__ shares, const float* __restrict__ spring, float* __restrict__ outflows, int rivers, int steps)
{
    __shared__ float handed[RIVERS][33];
    const int lane = threadIdx.x;
    const int river = blockIdx.x * RIVERS + threadIdx.y;
    if (river >= rivers)
        return;

    float* const mine = handed[threadIdx.y] + lane + 1;
    const size_t column = (size_t)river * 32 + lane;
    const size_t columns = (size_t)rivers * 32;

    Reach reach;
    reach.now = shares[column];
    reach.before = shares[columns + column];
    reach.stored = 1.0f - reach.now - reach.before;
    float crest = spring[river];

    float outflow = 1.0f, inflow_before = 1.0f;
    float* out = outflows + column;
#pragma unroll 1
    for (int n = 0; n < steps; ++n) {
        if (lane == 0)
            mine[-1] = crest;
        hand_over(mine, outflow);
        const float inflow = mine[-1];
        __syncwarp();

        outflow = fmaf(reach.now, inflow, fmaf(reach.before, inflow_before, reach.stored * outflow));
        inflow_before = inflow;
        crest = fmaf(crest, 0.99f, 0.01f);
        *out = outflow;
        out += columns;
    }
}
