// River gauges: how rough each station's series of heights is. A block takes a station, and goes through its series 256 readings at a time.

// Launch: grid (stations), block 256.
extern "C" __global__ void roughness(
    const float* __restrict__ heights, const int* __restrict__ lengths, float* __restrict__ rough, int longest)
{
    __shared__ float of_warps[8];
    const int station = blockIdx.x, length = lengths[station], lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const float* series = heights + (size_t)station * longest;
    float total = 0.0f;
    for (int first = 0; first < longest; first += 256) {
        const int i = first + threadIdx.x;
        const float height = i < length ? series[i] : 0.0f;
        // The largest difference within a warp's 32 readings, of eight lags.
        float largest = 0.0f;
#pragma unroll
        for (int lag = 1; lag <= 8; ++lag) {
            const float before = __shfl_up_sync(~0u, height, lag);
            largest = fmaxf(largest, lane >= lag ? fabsf(height - before) : 0.0f);
        }
        total += i < length ? largest : 0.0f;
    }
    for (int step = 16; step > 0; step /= 2)
        total += __shfl_xor_sync(~0u, total, step);
    if (lane == 0)
        of_warps[warp] = total;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int other = 1; other < 8; ++other)
            total += of_warps[other];
        rough[station] = total / length;
    }
}
