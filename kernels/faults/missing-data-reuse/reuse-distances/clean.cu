// Squared distances of all pairs of descriptors, 4 x 4 pairs a thread: four numbers of each side wait in registers and
// meet all four of the other.

// Launch: grid (n / 64, m / 64), block (16, 16).
extern "C" __global__ void __launch_bounds__(256)
squared_distances(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ distances,
                  int m, int n, int k)
{
    const int j = blockIdx.x * 64 + threadIdx.x;
    const int i = blockIdx.y * 64 + threadIdx.y;
    float sums[4][4] = {};
#pragma unroll 4
    for (int c = 0; c < k; ++c) {
        float left[4], right[4];
#pragma unroll
        for (int r = 0; r < 4; ++r) {
            left[r] = a[c * m + i + 16 * r];
            right[r] = b[c * n + j + 16 * r];
        }
#pragma unroll
        for (int r = 0; r < 4; ++r)
#pragma unroll
            for (int s = 0; s < 4; ++s) {
                const float difference = left[r] - right[s];
                sums[r][s] = fmaf(difference, difference, sums[r][s]);
            }
    }
#pragma unroll
    for (int r = 0; r < 4; ++r)
#pragma unroll
        for (int s = 0; s < 4; ++s)
            distances[(size_t)(i + 16 * r) * n + j + 16 * s] = sums[r][s];
}
