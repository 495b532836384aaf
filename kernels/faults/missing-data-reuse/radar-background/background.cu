// Ground-penetrating radar: from every trace the weighted mean of the 15 traces around it is taken away, depth by depth.
// scan[trace][depth]; the first and the last trace stand for those beyond them. A thread answers for ROWS traces.

#ifndef ROWS
#define ROWS 1
#endif

constexpr int REACH = 7;
constexpr float WEIGHT[2 * REACH + 1] = {0.01f, 0.02f, 0.04f, 0.06f, 0.08f, 0.1f, 0.12f, 0.14f,
                                         0.12f, 0.1f, 0.08f, 0.06f, 0.04f, 0.02f, 0.01f};

// Launch: block 160 along the depth, grid y over groups of ROWS traces, which divide the number of traces.
extern "C" __global__ void __launch_bounds__(160)
remove_background(const float* __restrict__ scan, float* __restrict__ cleared, int traces, int depths)
{
    const int depth = blockIdx.x * 160 + threadIdx.x;
    if (depth >= depths)
        return;
    const int first = blockIdx.y * ROWS;
    float around[ROWS + 2 * REACH];
#pragma unroll
    for (int k = 0; k < ROWS + 2 * REACH; ++k) {
        const int trace = min(max(first + k - REACH, 0), traces - 1);
        around[k] = scan[(size_t)trace * depths + depth];
    }
#pragma unroll
    for (int row = 0; row < ROWS; ++row) {
        float mean = 0.0f;
#pragma unroll
        for (int k = 0; k <= 2 * REACH; ++k)
            mean = fmaf(WEIGHT[k], around[row + k], mean);
        cleared[(size_t)(first + row) * depths + depth] = around[row + REACH] - mean;
    }
}
