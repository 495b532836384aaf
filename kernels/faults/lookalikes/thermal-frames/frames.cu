// Frames of a thermal camera: radiometric counts become degrees Fahrenheit, with a gain and an offset for the shutter's temperature.

#ifdef PLAIN_LITERALS
__device__ __forceinline__ float fahrenheit(float celsius) { return celsius * 1.8 + 32.0; }
#else
__device__ __forceinline__ float fahrenheit(float celsius) { return celsius * 1.8f + 32.0f; }
#endif

__device__ __forceinline__ float4 converted(float4 c, float gain, float offset)
{
    return make_float4(fahrenheit(fmaf(c.x, gain, offset)), fahrenheit(fmaf(c.y, gain, offset)),
                       fahrenheit(fmaf(c.z, gain, offset)), fahrenheit(fmaf(c.w, gain, offset)));
}

// Launch: grid quads / 512, block 256: two quads of pixels a thread.
extern "C" __global__ void __launch_bounds__(256)
convert(const float4* __restrict__ counts, float4* __restrict__ degrees, float gain, float offset)
{
    const unsigned i = blockIdx.x * 512 + threadIdx.x;
    const float4 first = counts[i], second = counts[i + 256];
    degrees[i] = converted(first, gain, offset);
    degrees[i + 256] = converted(second, gain, offset);
}
