// A weighted moving average from prices in shared memory. A thread makes four averages that share no price: each
// multiply-add loads its operand, and the shared-memory pipe takes one such access a clock where four additions could go.

constexpr int THREADS = 128;
constexpr int TERMS = 48;
constexpr int TILE = 4 * THREADS;  // averages a block
constexpr float NORM = 2.0f / (TERMS * (TERMS + 1));

// Launch: grid n / 512, block 128. `prices` has n + 48 of them.
extern "C" __global__ void __launch_bounds__(THREADS)
weighted_average(const float* __restrict__ prices, float* __restrict__ averages)
{
    __shared__ __align__(16) float window[TILE + TERMS];
    const size_t first = (size_t)blockIdx.x * TILE;
    const int t = threadIdx.x;
    for (int i = t; i < TILE + TERMS; i += THREADS)
        window[i] = prices[first + i];
    __syncthreads();

#pragma unroll 1
    for (int i = t; i < TILE; i += THREADS) {
        float sum = 0.0f;
#pragma unroll
        for (int k = 0; k < TERMS; ++k)
            sum = fmaf(k + 1.0f, window[i + k], sum);
        averages[first + i] = sum * NORM;
    }
}
