// How well received bits fit a convolutional code of 64 states, and which state they end in: the path metrics of a Viterbi
// decoder without its trace back, as a receiver needs them to tell the rate of a frame. A thread follows one frame and keeps
// its metrics in registers.

#ifndef BLOCKS
#define BLOCKS 4
#endif

constexpr int STATES = 64;

__host__ __device__ constexpr int parity(unsigned x)
{
    int p = 0;
    for (; x; x >>= 1)
        p ^= x & 1;
    return p;
}

// The two coded bits when `bit` enters at a state, polynomials 133 and 171 (octal).
__host__ __device__ constexpr int coded(int state, int bit)
{
    const unsigned word = (unsigned)(bit << 6 | state);
    return parity(word & 0133) * 2 + parity(word & 0171);
}

template <int Next>
__device__ __forceinline__ float choose(const float (&metric)[STATES], const float (&cost)[4])
{
    constexpr int bit = Next >> 5, low = (Next & 31) * 2, high = low + 1;
    return fminf(metric[low] + cost[coded(low, bit)], metric[high] + cost[coded(high, bit)]);
}

template <int Next>
__device__ __forceinline__ void advance(const float (&metric)[STATES], float (&next)[STATES], const float (&cost)[4])
{
    next[Next] = choose<Next>(metric, cost);
    if constexpr (Next + 1 < STATES)
        advance<Next + 1>(metric, next, cost);
}

// Launch: a thread a frame, blocks of 128. soft has a pair for each bit of each frame, bit by bit.
extern "C" __global__ void __launch_bounds__(128, BLOCKS)
rate_metrics(const float2* __restrict__ soft, float* __restrict__ best, int* __restrict__ state, int frames, int bits)
{
    const int f = blockIdx.x * 128 + threadIdx.x;
    if (f >= frames)
        return;
    float metric[STATES];
#pragma unroll
    for (int s = 0; s < STATES; ++s)
        metric[s] = s == 0 ? 0.0f : 1e6f;
    float2 pair = soft[f];
#pragma unroll 1
    for (int b = 0; b < bits; ++b) {
        const float2 now = pair;
        if (b + 1 < bits)
            pair = soft[(size_t)(b + 1) * frames + f];
        const float cost[4] = {-now.x - now.y, now.y - now.x, now.x - now.y, now.x + now.y};
        float next[STATES];
        advance<0>(metric, next, cost);
#pragma unroll
        for (int s = 0; s < STATES; ++s)
            metric[s] = next[s];
    }
    float least = metric[0];
    int where = 0;
#pragma unroll
    for (int s = 1; s < STATES; ++s)
        if (metric[s] < least) {
            least = metric[s];
            where = s;
        }
    best[f] = least;
    state[f] = where;
}
