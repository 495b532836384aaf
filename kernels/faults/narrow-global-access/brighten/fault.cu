// Makes an image of bytes brighter. A thread loads and stores single bytes: coalesced, but 32 bytes a warp where an
// access could move 512.

__device__ unsigned brighter_by_a_quarter(unsigned pixel)
{
    return min(pixel + (pixel >> 2), 255u);
}

// Launch: grid pixels / 4096, block 256.
extern "C" __global__ void __launch_bounds__(256)
brighten_bytes(const unsigned char* __restrict__ image, unsigned char* __restrict__ brighter)
{
    const size_t first = (size_t)blockIdx.x * 4096 + threadIdx.x;
    unsigned char pixels[16];
#pragma unroll
    for (int k = 0; k < 16; ++k)
        pixels[k] = image[first + k * 256];
#pragma unroll
    for (int k = 0; k < 16; ++k)
        brighter[first + k * 256] = brighter_by_a_quarter(pixels[k]);
}
