// An ensemble of Lorenz's toy atmosphere of 1996: 20 sites on a ring, advanced by the classical Runge-Kutta method, a member a
// thread. state[site][member].

constexpr int SITES = 20;

#ifndef BLOCKS
#define BLOCKS 1
#endif

__device__ void slope(const float (&x)[SITES], float (&dx)[SITES], float forcing)
{
#pragma unroll
    for (int k = 0; k < SITES; ++k)
        dx[k] = fmaf(x[(k + 1) % SITES] - x[(k + SITES - 2) % SITES], x[(k + SITES - 1) % SITES], forcing - x[k]);
}

// Launch: grid over the members, block 128.
extern "C" __global__ void __launch_bounds__(128, BLOCKS)
advance(const float* __restrict__ before, const float* __restrict__ forcing, float* __restrict__ after, int members,
        int steps, float dt)
{
    const int m = blockIdx.x * 128 + threadIdx.x;
    if (m >= members)
        return;
    float x[SITES];
#pragma unroll
    for (int k = 0; k < SITES; ++k)
        x[k] = before[(size_t)k * members + m];
    const float force = forcing[m];

#pragma unroll 1
    for (int step = 0; step < steps; ++step) {
        float k1[SITES], probe[SITES], sum[SITES];
        slope(x, k1, force);
#pragma unroll
        for (int k = 0; k < SITES; ++k) {
            sum[k] = k1[k];
            probe[k] = fmaf(0.5f * dt, k1[k], x[k]);
        }
        slope(probe, k1, force);
#pragma unroll
        for (int k = 0; k < SITES; ++k) {
            sum[k] = fmaf(2.0f, k1[k], sum[k]);
            probe[k] = fmaf(0.5f * dt, k1[k], x[k]);
        }
        slope(probe, k1, force);
#pragma unroll
        for (int k = 0; k < SITES; ++k) {
            sum[k] = fmaf(2.0f, k1[k], sum[k]);
            probe[k] = fmaf(dt, k1[k], x[k]);
        }
        slope(probe, k1, force);
#pragma unroll
        for (int k = 0; k < SITES; ++k)
            x[k] = fmaf(dt * (1.0f / 6.0f), sum[k] + k1[k], x[k]);
    }
#pragma unroll
    for (int k = 0; k < SITES; ++k)
        after[(size_t)k * members + m] = x[k];
}
