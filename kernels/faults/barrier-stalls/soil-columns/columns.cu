// Water in columns of soil, a column a warp and a layer a lane. Heavier rain needs more parts of a time step; what leaves the
// lowest layer in a step is the runoff. At least two steps.

constexpr int WARPS = 16;

// Launch: grid columns / 16, block 512.
extern "C" __global__ void __launch_bounds__(32 * WARPS)
drain(const float* __restrict__ rain, const float* __restrict__ start, float* __restrict__ runoff, int columns, int steps)
{
#ifdef TOGETHER
    __shared__ float staged[WARPS];
#endif
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int column = blockIdx.x * WARPS + warp;
    float water = start[column * 32 + lane];
    float coming = rain[column], later = rain[columns + column];
#pragma unroll 1
    for (int step = 0; step < steps; ++step) {
        const float now = coming;
        coming = later;
        if (step + 2 < steps)
            later = rain[(size_t)(step + 2) * columns + column];
        const int parts = 1 + (int)(now * 7.99f);
        const float part = __fdividef(1.0f, (float)parts);
        float left = 0.0f;
#pragma unroll 1
        for (int p = 0; p < parts; ++p) {
            const float root = rsqrtf(water + 0.01f);
            const float down = water * water * water * root;
            float in = __shfl_up_sync(~0u, down, 1);
            if (lane == 0)
                in = 0.3f * now;
            water = fminf(fmaf(part, in - down, water), 1.0f);
            left = fmaf(part, down, left);
        }
#ifdef TOGETHER
        if (lane == 31)
            staged[warp] = left;
        __syncthreads();
        if (threadIdx.x < WARPS)
            runoff[(size_t)step * columns + blockIdx.x * WARPS + threadIdx.x] = staged[threadIdx.x];
        __syncthreads();
#else
        if (lane == 31)
            runoff[(size_t)step * columns + column] = left;
#endif
    }
}
