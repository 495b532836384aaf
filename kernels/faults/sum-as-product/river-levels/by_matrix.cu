// Rivers: how much has flowed past each gauge since midnight, in 64 intervals. A block takes 32 gauges.

// Launch: grid (gauges / 32), block (32, 8): a column of threads per gauge, eight intervals for each thread.
extern "C" __global__ void flowed(const float* __restrict__ flow, float* __restrict__ total)
{
    __shared__ float ones[64][64], tile[64][32];
    const int gauge = blockIdx.x * 32 + threadIdx.x, gauges = gridDim.x * 32;
    for (int part = 0; part < 16; part++) {
        const int i = part * 4 + threadIdx.y / 2, j = threadIdx.y % 2 * 32 + threadIdx.x;
        ones[i][j] = j <= i ? 1.0f : 0.0f;
    }
    for (int part = 0; part < 8; part++)
        tile[part * 8 + threadIdx.y][threadIdx.x] = flow[(size_t)(part * 8 + threadIdx.y) * gauges + gauge];
    __syncthreads();
    float sums[8] = {};
#pragma unroll 8
    for (int j = 0; j < 64; j++)
#pragma unroll
        for (int part = 0; part < 8; part++)
            sums[part] += ones[threadIdx.y * 8 + part][j] * tile[j][threadIdx.x];
#pragma unroll
    for (int part = 0; part < 8; part++)
        total[(size_t)(threadIdx.y * 8 + part) * gauges + gauge] = sums[part];
}
