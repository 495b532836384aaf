// Correlates a radar echo with its pulse. Echo and pulse are in shared memory, and both factors of every product come
// from there: no conflicts, but more than one shared load for each multiplication.

constexpr int THREADS = 256;
constexpr int RESULTS = 1024;  // of a block
constexpr int PULSE = 128;

// Launch: grid results / 1024, block 256. `echo` is 128 samples longer than the results at least.
extern "C" __global__ void __launch_bounds__(THREADS)
correlate_shared(const float* __restrict__ echo, const float* __restrict__ pulse, float* __restrict__ compressed)
{
    __shared__ __align__(16) float heard[RESULTS + PULSE];
    __shared__ __align__(16) float sent[PULSE];
    const size_t first = (size_t)blockIdx.x * RESULTS;
    for (int i = threadIdx.x; i < RESULTS + PULSE; i += THREADS)
        heard[i] = echo[first + i];
    if (threadIdx.x < PULSE)
        sent[threadIdx.x] = pulse[threadIdx.x];
    __syncthreads();

    for (int r = threadIdx.x; r < RESULTS; r += THREADS) {
        float sum = 0.0f;
#pragma unroll 4
        for (int k = 0; k < PULSE; ++k)
            sum += heard[r + k] * sent[k];
        compressed[first + r] = sum;
    }
}
