// A bunch of ions on the axis of a trap. The axial field was fitted to a map by a polynomial of 32 terms in the position (in units
// of the electrodes' distance); ions are kicked and drift in turn, and what is kept of each is its oscillation's energy.

__device__ constexpr float TERM[32] = {
    1.2e-3f,  -9.871e-1f, 3.41e-3f,  8.62e-2f,  -5.13e-3f, -3.127e-2f, 2.77e-3f,  1.913e-2f,  -1.81e-3f, -9.72e-3f, 1.07e-3f,
    5.31e-3f, -7.4e-4f,   -3.17e-3f, 5.2e-4f,   1.94e-3f,  -3.6e-4f,   -1.21e-3f, 2.7e-4f,    7.8e-4f,   -1.9e-4f,  -5.1e-4f,
    1.3e-4f,  3.4e-4f,    -9.1e-5f,  -2.2e-4f,  6.3e-5f,   1.5e-4f,    -4.4e-5f,  -1.0e-4f,   3.1e-5f,   6.9e-5f};

// The field at z, in units that make it an acceleration.
__device__ __forceinline__ float field(float z)
{
#ifdef ONE_SUM
    float sum = TERM[31];
#pragma unroll
    for (int k = 30; k >= 0; --k)
        sum = fmaf(sum, z, TERM[k]);
    return sum;
#else
    const float z2 = z * z, z4 = z2 * z2;
    float a = TERM[28], b = TERM[29], c = TERM[30], d = TERM[31];
#pragma unroll
    for (int k = 24; k >= 0; k -= 4) {
        a = fmaf(a, z4, TERM[k]);
        b = fmaf(b, z4, TERM[k + 1]);
        c = fmaf(c, z4, TERM[k + 2]);
        d = fmaf(d, z4, TERM[k + 3]);
    }
    return fmaf(fmaf(d, z, c), z2, fmaf(b, z, a));
#endif
}

// Launch: grid ions / 128, block 128: an ion a thread.
extern "C" __global__ void __launch_bounds__(128)
oscillate(const float* __restrict__ start, float* __restrict__ energy, int ions, float step, int steps)
{
    const int i = blockIdx.x * 128 + threadIdx.x;
    if (i >= ions)
        return;
    float z = start[i];
    float v = 0.0f;
#pragma unroll 1
    for (int s = 0; s < steps; ++s) {
        v = fmaf(field(z), step, v);
        z = fmaf(v, step, z);
    }
    energy[i] = fmaf(v, v, z * z);
}
