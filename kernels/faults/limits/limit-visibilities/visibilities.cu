// Calibration of a radio interferometer's visibilities: each complex reading times its complex gain, two readings a float4.

static __device__ __forceinline__ float4 calibrate(float4 v, float4 g)
{
    return make_float4(v.x * g.x - v.y * g.y, v.x * g.y + v.y * g.x, v.z * g.z - v.w * g.w, v.z * g.w + v.w * g.z);
}

// Launch: grid pairs / 1024, block 512: two float4 of each array a thread, passed through once.
extern "C" __global__ void __launch_bounds__(512)
apply_gains(const float4* __restrict__ readings, const float4* __restrict__ gains, float4* __restrict__ calibrated)
{
    const size_t i = (size_t)blockIdx.x * 1024 + threadIdx.x;
    const float4 v0 = __ldcs(readings + i), v1 = __ldcs(readings + i + 512);
    const float4 g0 = __ldcs(gains + i), g1 = __ldcs(gains + i + 512);
    __stcs(calibrated + i, calibrate(v0, g0));
    __stcs(calibrated + i + 512, calibrate(v1, g1));
}
