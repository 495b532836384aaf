// Archive of weather balloons: kelvins to degrees Fahrenheit for a customer, eight readings a thread.

static __device__ __forceinline__ float fahrenheit(float kelvin)
{
#ifdef SINGLE
    return fmaf(kelvin, 1.8f, -459.67f);
#else
    return (float)(kelvin * 1.8 - 459.67);
#endif
}

static __device__ __forceinline__ float4 convert_four(float4 k)
{
    return make_float4(fahrenheit(k.x), fahrenheit(k.y), fahrenheit(k.z), fahrenheit(k.w));
}

// Launch: any grid of blocks of 384 that covers the fours, two a thread.
extern "C" __global__ void __launch_bounds__(384)
convert(const float4* __restrict__ kelvins, float4* __restrict__ degrees, int fours)
{
    const int i = blockIdx.x * 768 + threadIdx.x;
    if (i + 384 < fours) {
        const float4 k0 = kelvins[i], k1 = kelvins[i + 384];
        degrees[i] = convert_four(k0);
        degrees[i + 384] = convert_four(k1);
    } else if (i < fours) {
        degrees[i] = convert_four(kelvins[i]);
    }
}
