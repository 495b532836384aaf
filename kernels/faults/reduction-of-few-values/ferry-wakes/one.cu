// Each thread brings one moment of a crossing to the tree.
constexpr int THREADS = 256;

extern "C" __global__ void wakes(const float *levels, float *highest, int *moment) {
    __shared__ float height[THREADS];
    __shared__ int when[THREADS];
    const int crossing = blockIdx.x, t = threadIdx.x;
    height[t] = levels[(size_t)crossing * 256 + t];
    when[t] = t;
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
