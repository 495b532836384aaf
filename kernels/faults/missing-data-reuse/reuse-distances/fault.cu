// Squared distances of all pairs of descriptors, a pair a thread. Each number is fetched from L1 again for every pair
// that it belongs to: two loads for two arithmetic instructions.

// Launch: grid (n / 16, m / 16), block (16, 16).
extern "C" __global__ void __launch_bounds__(256)
squared_distances(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ distances,
                  int m, int n, int k)
{
    const int j = blockIdx.x * 16 + threadIdx.x;
    const int i = blockIdx.y * 16 + threadIdx.y;
    float sum = 0.0f;
#pragma unroll 4
    for (int c = 0; c < k; ++c) {
        const float difference = a[c * m + i] - b[c * n + j];
        sum = fmaf(difference, difference, sum);
    }
    distances[(size_t)i * n + j] = sum;
}
