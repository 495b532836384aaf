// Credit ratings of borrowers' segments: each segment has its own monthly table of moves between eight ratings (the last of them is
// default), and its shares of the ratings are carried on from month to month. Also the loss that is expected over all months.

constexpr int RATINGS = 8;

#ifndef BOUND
#define BOUND 256
#endif

// A table's rows lie one after another, each entry for all segments side by side. Shares are normalised when a row is read.
struct Moves {
    float to[RATINGS][RATINGS];

    __device__ __forceinline__ Moves(const float* __restrict__ weights, int segments, int segment)
    {
#pragma unroll
        for (int from = 0; from < RATINGS; ++from) {
            float all = 0.0f;
#pragma unroll
            for (int k = 0; k < RATINGS; ++k) {
                to[from][k] = weights[(size_t)(from * RATINGS + k) * segments + segment];
                all += to[from][k];
            }
            const float scale = __fdividef(1.0f, all);
#pragma unroll
            for (int k = 0; k < RATINGS; ++k)
                to[from][k] *= scale;
        }
    }
};

// Launch: grid segments / 256, block 256.
extern "C" __global__ void __launch_bounds__(BOUND)
migrate(const float* __restrict__ weights, float* __restrict__ shares, float* __restrict__ loss, int segments, int months, float discount)
{
    const int segment = blockIdx.x * blockDim.x + threadIdx.x;
    if (segment >= segments)
        return;

    const Moves moves(weights, segments, segment);
    float share[RATINGS];
#pragma unroll
    for (int k = 0; k < RATINGS; ++k)
        share[k] = k == 2 ? 1.0f : 0.0f;

    float expected = 0.0f;
    float factor = 1.0f;
#pragma unroll 1
    for (int m = 0; m < months; ++m) {
        float next[RATINGS];
#pragma unroll
        for (int k = 0; k < RATINGS; ++k) {
            next[k] = share[0] * moves.to[0][k];
#pragma unroll
            for (int from = 1; from < RATINGS; ++from)
                next[k] = fmaf(share[from], moves.to[from][k], next[k]);
        }
        factor *= discount;
        expected = fmaf(factor, next[RATINGS - 1], expected);
#pragma unroll
        for (int k = 0; k < RATINGS; ++k)
            share[k] = next[k];
    }

#pragma unroll
    for (int k = 0; k < RATINGS; ++k)
        shares[(size_t)k * segments + segment] = share[k];
    loss[segment] = expected;
}
