// A weighted moving average from prices in shared memory. A thread makes four neighbouring averages: a price that it
// loads serves all four, and four prices come in one access.

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

    float sums[4] = {};
#pragma unroll
    for (int quad = 0; quad <= TERMS / 4; ++quad) {
        const float4 four = reinterpret_cast<const float4*>(window)[t + quad];
        const float price[4] = {four.x, four.y, four.z, four.w};
#pragma unroll
        for (int j = 0; j < 4; ++j)
#pragma unroll
            for (int o = 0; o < 4; ++o) {
                const int k = 4 * quad + j - o;  // which term of average o this price is
                if (k >= 0 && k < TERMS)
                    sums[o] = fmaf(k + 1.0f, price[j], sums[o]);
            }
    }
    reinterpret_cast<float4*>(averages + first)[t] =
        make_float4(sums[0] * NORM, sums[1] * NORM, sums[2] * NORM, sums[3] * NORM);
}
