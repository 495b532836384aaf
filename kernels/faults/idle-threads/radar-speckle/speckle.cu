// Speckle of a radar image: each pixel becomes a weighted mean of the 17 x 17 pixels around it; those of a similar intensity weigh
// most, those far off nothing. A block makes 16 x 16 pixels and keeps them and a margin of 8 in shared memory.

constexpr int OUT = 16, MARGIN = 8, SIDE = OUT + 2 * MARGIN;
constexpr int PITCH = 48;  // floats of a row in shared memory

__device__ __forceinline__ float clamped(const float* __restrict__ image, int x, int y, int width, int height)
{
    return image[(size_t)min(max(y, 0), height - 1) * width + min(max(x, 0), width - 1)];
}

// Around the pixel at (column, row) of the tile, which are those of its window's upper left corner.
__device__ __forceinline__ float smoothed(const float (*tile)[PITCH], int column, int row, float sharpness)
{
    const float own = tile[row + MARGIN][column + MARGIN];
    float sum = 0.0f, weights = 0.0f;
#pragma unroll 1
    for (int dy = 0; dy <= 2 * MARGIN; ++dy)
#pragma unroll
        for (int dx = 0; dx <= 2 * MARGIN; ++dx) {
            const float other = tile[row + dy][column + dx];
            const float off = other - own;
            const float weight = fmaxf(0.0f, fmaf(-sharpness * off, off, 1.0f));
            weights = fmaf(weight, weight, weights);
            sum = fmaf(weight * weight, other, sum);
        }
    return __fdividef(sum, weights);
}

// Launch: grid (width / 16, height / 16); block (32, 32) with MARGIN_THREADS, or (16, 16).
extern "C" __global__ void
calm(const float* __restrict__ image, float* __restrict__ calmed, int width, int height, float sharpness)
{
    __shared__ float tile[SIDE][PITCH];
    const int left = blockIdx.x * OUT - MARGIN, top = blockIdx.y * OUT - MARGIN;
    const int tx = threadIdx.x, ty = threadIdx.y;
#ifdef MARGIN_THREADS
    tile[ty][tx] = clamped(image, left + tx, top + ty, width, height);
    __syncthreads();
    const int x = left + tx, y = top + ty;
    if (tx >= MARGIN && tx < MARGIN + OUT && ty >= MARGIN && ty < MARGIN + OUT && x < width && y < height)
        calmed[(size_t)y * width + x] = smoothed(tile, tx - MARGIN, ty - MARGIN, sharpness);
#else
    for (int r = ty; r < SIDE; r += OUT)
        for (int c = tx; c < SIDE; c += OUT)
            tile[r][c] = clamped(image, left + c, top + r, width, height);
    __syncthreads();
    const int x = left + MARGIN + tx, y = top + MARGIN + ty;
    if (x < width && y < height)
        calmed[(size_t)y * width + x] = smoothed(tile, tx, ty, sharpness);
#endif
}
