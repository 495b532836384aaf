// Response of a picture to a Laplacian of a Gaussian: five by five taps, the picture's border repeated outside. A thread
// makes one pixel.

__constant__ float taps[25] = {0.0f,  0.5f,  1.0f,   0.5f,  0.0f,  0.5f, 1.5f, -1.0f, 1.5f,  0.5f,  1.0f,  -1.0f, -10.0f,
                               -1.0f, 1.0f,  0.5f,   1.5f,  -1.0f, 1.5f, 0.5f, 0.0f,  0.5f,  1.0f,  0.5f,  0.0f};

// One pixel of a picture in rows of `width`, the nearest one where (x, y) is outside.
__device__ __forceinline__ float pixel(const float* __restrict__ picture, int x, int y, int width, int height)
{
    x = min(max(x, 0), width - 1);
    y = min(max(y, 0), height - 1);
    return picture[(size_t)y * width + x];
}

// The response where all taps lie inside.
__device__ __forceinline__ float inner(const float* __restrict__ corner, int width, int radius)
{
    float sum = 0.0f;
    const int side = 2 * radius + 1;
    for (int dy = 0; dy < side; ++dy) {
        for (int dx = 0; dx < side; ++dx)
            sum = fmaf(taps[dy * side + dx], corner[dx], sum);
        corner += width;
    }
    return sum;
}

// The response beside the border.
__device__ __noinline__ float outer(const float* __restrict__ picture, int x, int y, int width, int height, int radius)
{
    float sum = 0.0f;
    int tap = 0;
#pragma unroll 1
    for (int dy = -radius; dy <= radius; ++dy)
#pragma unroll 1
        for (int dx = -radius; dx <= radius; ++dx)
            sum = fmaf(taps[tap++], pixel(picture, x + dx, y + dy, width, height), sum);
    return sum;
}

// Launch: grid (width / 32, height / 8, pictures), block (32, 8).
extern "C" __global__ void __launch_bounds__(256)
edges(const float* __restrict__ pictures, float* __restrict__ out, int width, int height, int radius)
{
    const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
    if (x >= width || y >= height)
        return;
    const size_t first = (size_t)blockIdx.z * width * height;
#ifndef ANY_RADIUS
    if (radius != 2)
        return;
    radius = 2;
#endif
    const float* picture = pictures + first;
    const bool inside = x >= radius && y >= radius && x + radius < width && y + radius < height;
    out[first + (size_t)y * width + x] = inside ? inner(picture + (size_t)(y - radius) * width + x - radius, width, radius)
                                                : outer(picture, x, y, width, height, radius);
}
