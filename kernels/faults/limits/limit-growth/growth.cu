// Savings in double precision, four accounts a thread: chains of fused multiply-adds that keep the pipe full.

// Launch: grid n / 1024, block 256.
extern "C" __global__ void __launch_bounds__(256)
grow(const double* __restrict__ factor, double* __restrict__ balance, int days)
{
    const size_t first = (size_t)blockIdx.x * 1024 + threadIdx.x;
    double rate[4], sum[4] = {};
#pragma unroll
    for (int j = 0; j < 4; ++j)
        rate[j] = factor[first + 256 * j];
#pragma unroll 16
    for (int day = 0; day < days; ++day)
#pragma unroll
        for (int j = 0; j < 4; ++j)
            sum[j] = fma(sum[j], rate[j], 1.0);
#pragma unroll
    for (int j = 0; j < 4; ++j)
        balance[first + 256 * j] = sum[j];
}
