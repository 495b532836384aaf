// Window and level of an 8-bit image. A thread sets 8 pixels that lie a block's width apart, each with a load and a
// store of one byte: consecutive, but 32 bytes an access of a warp.

__device__ unsigned windowed(unsigned pixel, int low, int gain)
{
    return (unsigned)min(max(((int)pixel - low) * gain >> 8, 0), 255);
}

// Launch: grid ceil(n / (320 * 8)), block 320.
extern "C" __global__ void __launch_bounds__(320)
set_window(const unsigned char* __restrict__ image, unsigned char* __restrict__ shown, unsigned n, int low, int gain)
{
    const unsigned first = blockIdx.x * (320 * 8) + threadIdx.x;
    unsigned pixels[8];
#pragma unroll
    for (int j = 0; j < 8; ++j)
        pixels[j] = first + j * 320 < n ? image[first + j * 320] : 0;
#pragma unroll
    for (int j = 0; j < 8; ++j)
        if (first + j * 320 < n)
            shown[first + j * 320] = (unsigned char)windowed(pixels[j], low, gain);
}
