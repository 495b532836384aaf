// Census transform for stereo matching: each pixel gets a word whose bits say which pixels of a 5 x 5 window around it are darker than
// itself.

#ifdef ANY_WINDOW
__device__ __forceinline__ unsigned census(const unsigned char* image, int pitch, int rx, int ry)
{
    const unsigned char own = image[0];
    unsigned word = 0;
    for (int dy = -ry; dy <= ry; ++dy)
        for (int dx = -rx; dx <= rx; ++dx) {
            if (dx == 0 && dy == 0)
                continue;
            word = word << 1 | (image[dy * pitch + dx] < own);
        }
    return word;
}
#else
template <int RX, int RY>
__device__ __forceinline__ unsigned census(const unsigned char* image, int pitch)
{
    const unsigned char own = image[0];
    unsigned word = 0;
#pragma unroll
    for (int dy = -RY; dy <= RY; ++dy)
#pragma unroll
        for (int dx = -RX; dx <= RX; ++dx) {
            if (dx == 0 && dy == 0)
                continue;
            word = word << 1 | (image[dy * pitch + dx] < own);
        }
    return word;
}
#endif

// Launch: grid (ceil(width / 64), ceil(height / 4), frames), block (64, 4). Borders get no bits.
extern "C" __global__ void __launch_bounds__(256)
transform(const unsigned char* __restrict__ frames, unsigned* __restrict__ words, int width, int height, int rx, int ry)
{
    const int x = blockIdx.x * 64 + threadIdx.x;
    const int y = blockIdx.y * 4 + threadIdx.y;
    if (x >= width || y >= height)
        return;
    const int i = (blockIdx.z * height + y) * width + x;
    unsigned word = 0;
    if (x >= rx && y >= ry && x < width - rx && y < height - ry) {
#ifdef ANY_WINDOW
        word = census(frames + i, width, rx, ry);
#else
        word = census<2, 2>(frames + i, width);
#endif
    }
    words[i] = word;
}
