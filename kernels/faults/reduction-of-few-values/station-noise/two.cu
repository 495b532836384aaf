// Every thread takes two readings of a station before moments are merged.
constexpr int READINGS = 1024, THREADS = 512, WARPS = THREADS / 32;

struct Moments {
    float mean, squares, count;
};

__device__ Moments merge(Moments a, Moments b)
{
    if (a.count == 0) return b;
    if (b.count == 0) return a;
    const float delta = b.mean - a.mean, count = a.count + b.count, share = b.count / count;
    return {a.mean + delta * share, a.squares + b.squares + delta * delta * a.count * share, count};
}

__device__ Moments from_below(Moments own, int distance)
{
    return {__shfl_down_sync(~0u, own.mean, distance), __shfl_down_sync(~0u, own.squares, distance),
            __shfl_down_sync(~0u, own.count, distance)};
}

extern "C" __global__ void noise(const float* readings, float* mean, float* variance)
{
    __shared__ Moments of_warp[WARPS];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    Moments own{0, 0, 0};
    for (int at = threadIdx.x; at < READINGS; at += THREADS) {
        const float value = readings[(size_t)blockIdx.x * READINGS + at], delta = value - own.mean;
        own.count += 1;
        own.mean += delta / own.count;
        own.squares += delta * (value - own.mean);
    }
    for (int distance = 16; distance > 0; distance /= 2) own = merge(own, from_below(own, distance));
    if (lane == 0) of_warp[warp] = own;
    __syncthreads();
    if (warp == 0) {
        own = lane < WARPS ? of_warp[lane] : Moments{0, 0, 0};
        for (int distance = 16; distance > 0; distance /= 2) own = merge(own, from_below(own, distance));
        if (lane == 0) {
            mean[blockIdx.x] = own.mean;
            variance[blockIdx.x] = own.squares / own.count;
        }
    }
}
