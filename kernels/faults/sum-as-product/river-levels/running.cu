// Rivers: how much has flowed past each gauge since midnight, in 64 intervals. A block takes 32 gauges.

// Launch: grid (gauges / 32), block (32, 8): a column of threads per gauge, eight intervals for each thread.
extern "C" __global__ void flowed(const float* __restrict__ flow, float* __restrict__ total)
{
    __shared__ float ends[8][32];
    const int gauge = blockIdx.x * 32 + threadIdx.x, gauges = gridDim.x * 32;
    float sums[8];
#pragma unroll
    for (int part = 0; part < 8; part++)
        sums[part] = flow[(size_t)(threadIdx.y * 8 + part) * gauges + gauge];
#pragma unroll
    for (int part = 1; part < 8; part++)
        sums[part] += sums[part - 1];
    ends[threadIdx.y][threadIdx.x] = sums[7];
    __syncthreads();
    float before = 0.0f;
    for (int row = 0; row < threadIdx.y; row++)
        before += ends[row][threadIdx.x];
#pragma unroll
    for (int part = 0; part < 8; part++)
        total[(size_t)(threadIdx.y * 8 + part) * gauges + gauge] = before + sums[part];
}
