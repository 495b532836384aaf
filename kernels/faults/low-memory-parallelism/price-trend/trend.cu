// Trend of many price series: the difference of a fast and a slow exponential average, at every tick. Series lie beside each
// other, so that price[tick][series].

#ifdef PLAIN
#define APART
#define TICKS 1
#else
#define APART __restrict__
#define TICKS 8
#endif

struct Averages {
    float fast, slow;
    __device__ float take(float price, float quick, float lazy)
    {
        fast = fmaf(quick, price - fast, fast);
        slow = fmaf(lazy, price - slow, slow);
        return fast - slow;
    }
};

// Launch: grid over the series, block 192. `ticks` is a multiple of 8.
extern "C" __global__ void __launch_bounds__(192)
trend(const float* APART price, float* APART signal, int series, int ticks, float quick, float lazy)
{
    const int s = blockIdx.x * 192 + threadIdx.x;
    if (s >= series)
        return;
    Averages average = {price[s], price[s]};
    for (int tick = 0; tick < ticks; tick += TICKS) {
        float next[TICKS];
#pragma unroll
        for (int k = 0; k < TICKS; ++k)
            next[k] = price[(size_t)(tick + k) * series + s];
#pragma unroll
        for (int k = 0; k < TICKS; ++k)
            signal[(size_t)(tick + k) * series + s] = average.take(next[k], quick, lazy);
    }
}
