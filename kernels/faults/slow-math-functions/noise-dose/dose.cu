// Noise dose of workers: sound levels in half decibels, one a second and a dosimeter, are turned into energies relative to the
// criterion level and added up. Four dosimeters a thread; the levels of one second lie side by side.

__device__ __forceinline__ float energy(unsigned level, float criterion, float exchange)
{
    const float bels = (0.5f * level - criterion) * exchange;
#ifdef LIBRARY
    return powf(10.0f, bels);
#else
    return __powf(10.0f, bels);
#endif
}

// Launch: block 256 over quarters of the dosimeters.
extern "C" __global__ void __launch_bounds__(256)
dose(const uchar4* __restrict__ levels, float4* __restrict__ doses, int quarters, int seconds, float criterion, float exchange,
     float share)
{
    const int i = blockIdx.x * 256 + threadIdx.x;
    if (i >= quarters)
        return;
    float4 sum = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
#pragma unroll 4
    for (int s = 0; s < seconds; ++s) {
        const uchar4 level = levels[(size_t)s * quarters + i];
        sum.x += energy(level.x, criterion, exchange);
        sum.y += energy(level.y, criterion, exchange);
        sum.z += energy(level.z, criterion, exchange);
        sum.w += energy(level.w, criterion, exchange);
    }
    doses[i] = make_float4(sum.x * share, sum.y * share, sum.z * share, sum.w * share);
}
