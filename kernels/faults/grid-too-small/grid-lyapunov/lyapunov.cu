// Mean slopes of orbits of the logistic map. The grid strides over all growth rates, so any grid is right; only one that
// is large enough is fast.

// Launch: any grid, block 512.
extern "C" __global__ void __launch_bounds__(512)
mean_slopes(const float* __restrict__ rates, float* __restrict__ slopes, int n, int turns)
{
    for (int i = blockIdx.x * 512 + threadIdx.x; i < n; i += gridDim.x * 512) {
        const float rate = rates[i];
        float x = 0.3f, sum = 0.0f;
#pragma unroll 8
        for (int turn = 0; turn < turns; ++turn) {
            const float rx = rate * x;
            sum += fabsf(fmaf(-2.0f, rx, rate));
            x = fmaf(-rx, x, rx);
        }
        slopes[i] = sum;
    }
}
