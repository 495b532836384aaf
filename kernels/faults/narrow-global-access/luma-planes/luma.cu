// Luma of an image whose three 8-bit planes lie apart, in the usual fixed-point weights.

__device__ unsigned luma_of(unsigned r, unsigned g, unsigned b)
{
    return (77 * r + 150 * g + 29 * b + 128) >> 8;
}

// Launch: grid over the pixels, block 512, a pixel a thread.
extern "C" __global__ void __launch_bounds__(512)
luma(const unsigned char* __restrict__ red, const unsigned char* __restrict__ green,
     const unsigned char* __restrict__ blue, unsigned char* __restrict__ grey, int pixels)
{
    const int i = blockIdx.x * 512 + threadIdx.x;
    if (i < pixels)
        grey[i] = luma_of(red[i], green[i], blue[i]);
}

__device__ unsigned luma_of_four(unsigned r, unsigned g, unsigned b)
{
    unsigned four = 0;
#pragma unroll
    for (int k = 0; k < 32; k += 8)
        four |= luma_of(r >> k & 255, g >> k & 255, b >> k & 255) << k;
    return four;
}

// Launch: grid over groups of 16 pixels, block 512. The number of pixels is a multiple of 16.
extern "C" __global__ void __launch_bounds__(512)
luma16(const uint4* __restrict__ red, const uint4* __restrict__ green, const uint4* __restrict__ blue,
       uint4* __restrict__ grey, int pixels)
{
    const int i = blockIdx.x * 512 + threadIdx.x;
    if (i >= pixels / 16)
        return;
    const uint4 r = red[i], g = green[i], b = blue[i];
    grey[i] = make_uint4(luma_of_four(r.x, g.x, b.x), luma_of_four(r.y, g.y, b.y), luma_of_four(r.z, g.z, b.z),
                         luma_of_four(r.w, g.w, b.w));
}
