// Compositing of a layer over another, both with premultiplied alpha in single precision.

__device__ float4 over(float4 top, float4 bottom)
{
    const float through = 1.0f - top.w;
    return make_float4(fmaf(through, bottom.x, top.x), fmaf(through, bottom.y, top.y), fmaf(through, bottom.z, top.z),
                       fmaf(through, bottom.w, top.w));
}

// Launch: block 256, two pixels a thread; the number of pixels is a multiple of 512.
extern "C" __global__ void __launch_bounds__(256)
composite(const float4* __restrict__ top, const float4* __restrict__ bottom, float4* __restrict__ result)
{
    const int i = blockIdx.x * 512 + threadIdx.x;
    const float4 a = __ldcs(top + i), b = __ldcs(bottom + i);
    const float4 c = __ldcs(top + i + 256), d = __ldcs(bottom + i + 256);
    __stcs(result + i, over(a, b));
    __stcs(result + i + 256, over(c, d));
}
