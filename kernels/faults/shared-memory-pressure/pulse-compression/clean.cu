// Correlates a radar echo with its pulse. A thread makes four neighbouring results from a window of the echo that moves
// through its registers; a wide load brings four new samples of the echo or the pulse.

constexpr int THREADS = 256;
constexpr int RESULTS = 1024;  // of a block
constexpr int PULSE = 128;

// Launch: grid results / 1024, block 256. `echo` is 128 samples longer than the results at least.
extern "C" __global__ void __launch_bounds__(THREADS)
correlate_window(const float* __restrict__ echo, const float* __restrict__ pulse, float* __restrict__ compressed)
{
    __shared__ __align__(16) float heard[RESULTS + PULSE];
    __shared__ __align__(16) float sent[PULSE];
    const size_t first = (size_t)blockIdx.x * RESULTS;
    for (int i = threadIdx.x; i < RESULTS + PULSE; i += THREADS)
        heard[i] = echo[first + i];
    if (threadIdx.x < PULSE)
        sent[threadIdx.x] = pulse[threadIdx.x];
    __syncthreads();

    const int r = 4 * threadIdx.x;
    float sums[4] = {};
    float4 here = *(const float4*)(heard + r);
    for (int k = 0; k < PULSE; k += 4) {
        const float4 next = *(const float4*)(heard + r + k + 4);
        const float4 s = *(const float4*)(sent + k);
        const float window[8] = {here.x, here.y, here.z, here.w, next.x, next.y, next.z, next.w};
        const float samples[4] = {s.x, s.y, s.z, s.w};
#pragma unroll
        for (int j = 0; j < 4; ++j)
#pragma unroll
            for (int p = 0; p < 4; ++p)
                sums[p] += window[p + j] * samples[j];
        here = next;
    }
    *(float4*)(compressed + first + r) = make_float4(sums[0], sums[1], sums[2], sums[3]);
}
