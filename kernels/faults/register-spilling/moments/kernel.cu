// Legendre moments of time series, a thread a series: 32 sums that grow with every sample. Whether they stay in
// registers is up to the limit that the compiler gets (-maxrregcount).

constexpr int MOMENTS = 32;

// Launch: grid series / 256, block 256. Sample t of series s lies at samples[t * series + s], moment n at
// moments[n * series + s].
extern "C" __global__ void
legendre_moments(const float* __restrict__ samples, float* __restrict__ moments, int series, int length)
{
    const int s = blockIdx.x * 256 + threadIdx.x;
    float sums[MOMENTS] = {};
#pragma unroll 1
    for (int t = 0; t < length; ++t) {
        const float x = samples[(size_t)t * series + s];
        float before = 1.0f, here = x;
        sums[0] += before;
        sums[1] += here;
#pragma unroll
        for (int n = 1; n < MOMENTS - 1; ++n) {
            // Bonnet's recurrence; the quotients are known to the compiler.
            const float next = (2 * n + 1) / float(n + 1) * x * here - n / float(n + 1) * before;
            before = here;
            here = next;
            sums[n + 1] += here;
        }
    }
#pragma unroll
    for (int n = 0; n < MOMENTS; ++n)
        moments[(size_t)n * series + s] = sums[n];
}
