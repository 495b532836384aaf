// The last value of prices smoothed by four low-pass filters in a row. A thread follows one paper.
// The literals are doubles, and so is the arithmetic around them.

// Launch: grid papers / 384, block 384. prices[time][paper].
extern "C" __global__ void __launch_bounds__(384)
smooth(const float* __restrict__ prices, float* __restrict__ smoothed, unsigned papers, int times)
{
    const unsigned paper = blockIdx.x * 384 + threadIdx.x;
    float a = 100.0f, b = 100.0f, c = 100.0f, d = 100.0f;
#pragma unroll 4
    for (int time = 0; time < times; ++time) {
        const float price = prices[(size_t)time * papers + paper];
        a += 0.21 * (price - a);
        b += 0.17 * (a - b);
        c += 0.13 * (b - c);
        d += 0.11 * (c - d);
    }
    smoothed[paper] = d;
}
