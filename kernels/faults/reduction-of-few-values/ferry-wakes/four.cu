// Each thread brings the highest of four moments of a crossing to the tree.
constexpr int THREADS = 64;

extern "C" __global__ void wakes(const float4 *levels, float *highest, int *moment) {
    __shared__ float height[THREADS];
    __shared__ int when[THREADS];
    const int crossing = blockIdx.x, t = threadIdx.x;
    const float4 four = levels[(size_t)crossing * 64 + t];
    const float each[4] = {four.x, four.y, four.z, four.w};
    int best = 0;
    for (int i = 1; i < 4; ++i)
        if (each[i] > each[best]) best = i;
    height[t] = each[best];
    when[t] = 4 * t + best;
    __syncthreads();
    for (int half = THREADS / 2; half > 0; half /= 2) {
        if (t < half) {
            const float other = height[t + half];
            if (other > height[t] || other == height[t] && when[t + half] < when[t]) {
                height[t] = other;
                when[t] = when[t + half];
            }
        }
        __syncthreads();
    }
    if (t == 0) {
        highest[crossing] = height[0];
        moment[crossing] = when[0];
    }
}
