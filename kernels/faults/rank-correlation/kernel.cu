// Counts concordant pairs for Kendall's rank correlation: for each observation how many earlier ones lie below it in both
// values or above it in both. Later observations have more to compare with; a block takes two bands of 512, with two
// threads for each observation.

// Launch: grid observations / 1024, block (512, 2).
extern "C" __global__ void __launch_bounds__(1024)
count_concordant(const float2* __restrict__ observations, unsigned* __restrict__ concordant)
{
    __shared__ unsigned odd[512];
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
        for (unsigned j = threadIdx.y; j < i; j += 2) {
            const float2 other = observations[j];
            count += (own.x - other.x) * (own.y - other.y) > 0.0f;
        }
        if (threadIdx.y == 1)
            odd[threadIdx.x] = count;
        __syncthreads();
        if (threadIdx.y == 0)
            concordant[i] = count + odd[threadIdx.x];
        __syncthreads();
    }
}
