// Evaluates a lens's distortion polynomial of degree 511 by Horner's scheme. A thread has POINTS points at a time, each a
// chain of its own, so that a coefficient is loaded once for all of them.

#ifndef POINTS
#define POINTS 16
#endif

constexpr int TERMS = 512;

// Launch: grid points / (128 * POINTS), block 128.
extern "C" __global__ void __launch_bounds__(128)
evaluate_distortion(const float* __restrict__ radii, const float4* __restrict__ terms, float* __restrict__ shifts)
{
    const unsigned first = blockIdx.x * (128 * POINTS) + threadIdx.x;
    float x[POINTS];
    float y[POINTS];
#pragma unroll
    for (int p = 0; p < POINTS; ++p) {
        x[p] = radii[first + p * 128];
        y[p] = 0.0f;
    }
#pragma unroll 1
    for (int k = 0; k < TERMS / 4; ++k) {
        const float4 four = terms[k];
#pragma unroll
        for (int p = 0; p < POINTS; ++p)
            y[p] = fmaf(y[p], x[p], four.x);
#pragma unroll
        for (int p = 0; p < POINTS; ++p)
            y[p] = fmaf(y[p], x[p], four.y);
#pragma unroll
        for (int p = 0; p < POINTS; ++p)
            y[p] = fmaf(y[p], x[p], four.z);
#pragma unroll
        for (int p = 0; p < POINTS; ++p)
            y[p] = fmaf(y[p], x[p], four.w);
    }
#pragma unroll
    for (int p = 0; p < POINTS; ++p)
        shifts[first + p * 128] = y[p];
}
