// Window and level of an 8-bit image. A thread sets 8 neighbouring pixels, which come and go as one access of 8 bytes.

__device__ unsigned windowed(unsigned pixel, int low, int gain)
{
    return (unsigned)min(max(((int)pixel - low) * gain >> 8, 0), 255);
}

__device__ unsigned windowed_word(unsigned word, int low, int gain)
{
    unsigned set = 0;
#pragma unroll
    for (int shift = 0; shift < 32; shift += 8)
        set |= windowed(word >> shift & 255, low, gain) << shift;
    return set;
}

// Launch: grid ceil(n / (320 * 8)), block 320. n is a multiple of 8.
extern "C" __global__ void __launch_bounds__(320)
set_window(const unsigned char* __restrict__ image, unsigned char* __restrict__ shown, unsigned n, int low, int gain)
{
    const unsigned i = blockIdx.x * 320 + threadIdx.x;
    if (i * 8 >= n)
        return;
    uint2 pixels = reinterpret_cast<const uint2*>(image)[i];
    pixels.x = windowed_word(pixels.x, low, gain);
    pixels.y = windowed_word(pixels.y, low, gain);
    reinterpret_cast<uint2*>(shown)[i] = pixels;
}
