// Counts concordant pairs for Kendall's rank correlation: for each observation how many earlier ones lie below it in both
// values or above it in both. Later observations have more to compare with; a block takes two bands of 512.

// Launch: grid observations / 1024, block 512.
extern "C" __global__ void __launch_bounds__(512)
count_concordant(const float2* __restrict__ observations, unsigned* __restrict__ concordant)
{
#pragma unroll 1
    for (int half = 0; half < 2; ++half) {
#ifdef PAIRED
        const unsigned band = half == 0 ? blockIdx.x : 2 * gridDim.x - 1 - blockIdx.x;
#else
        const unsigned band = 2 * blockIdx.x + half;
#endif
        const unsigned i = band * 512 + threadIdx.x;
        const float2 own = observations[i];
        unsigned count = 0;
#pragma unroll 8
        for (unsigned j = 0; j < i; ++j) {
            const float2 other = observations[j];
            count += (own.x - other.x) * (own.y - other.y) > 0.0f;
        }
        concordant[i] = count;
    }
}
