// Fluorescent particles in a microscope's frame stand out by a Mexican hat of 9 x 9 pixels. Tiles of 32 x 32 pixels with a rim of
// four are staged in shared memory; beyond the frame there is nothing.

constexpr int SIDE = 32, RIM = 4, STAGED = SIDE + 2 * RIM, TAPS = 2 * RIM + 1;


// The hat, in a rational form that sums to about zero over the square.
struct Hat {
    float tap[TAPS][TAPS];
    __host__ __device__ constexpr Hat() : tap{}
    {
        for (int y = 0; y < TAPS; ++y)
            for (int x = 0; x < TAPS; ++x) {
                const float r = ((x - RIM) * (x - RIM) + (y - RIM) * (y - RIM)) / 3.2f;
                const float fall = 1.0f + r * (0.5f + r * (0.125f + r * 0.0208f));
                tap[y][x] = (1.0f - 0.5f * r) / (fall * fall);
            }
    }
};
__constant__ constexpr Hat HAT{};

// Launch: grid (width / 32, height / 32), block (32, 8): four pixels a thread.
extern "C" __global__ void __launch_bounds__(256)
spots(const float* __restrict__ frame, float* __restrict__ response, int width, int height)
{
    __shared__ float tile[STAGED][STAGED];
    const int x0 = blockIdx.x * SIDE, y0 = blockIdx.y * SIDE;
    for (int v = threadIdx.y; v < STAGED; v += 8)
        for (int u = threadIdx.x; u < STAGED; u += 32) {
            const int x = x0 + u - RIM, y = y0 + v - RIM;
            tile[v][u] = x >= 0 && x < width && y >= 0 && y < height ? frame[(size_t)y * width + x] : 0.0f;
        }
    __syncthreads();

    const int x = x0 + threadIdx.x;
#ifdef PIXEL_BY_PIXEL
#pragma unroll 1
    for (int v = threadIdx.y; v < SIDE; v += 8) {
        float sum = 0.0f;
#pragma unroll
        for (int dy = 0; dy < TAPS; ++dy)
#pragma unroll
            for (int dx = 0; dx < TAPS; ++dx)
                sum = fmaf(HAT.tap[dy][dx], tile[v + dy][threadIdx.x + dx], sum);
        if (x < width && y0 + v < height)
            response[(size_t)(y0 + v) * width + x] = sum;
    }
#else
    const int v0 = 4 * threadIdx.y;
    float sum[4] = {};
#pragma unroll
    for (int row = 0; row < TAPS + 3; ++row)
#pragma unroll
        for (int dx = 0; dx < TAPS; ++dx) {
            const float value = tile[v0 + row][threadIdx.x + dx];
#pragma unroll
            for (int j = 0; j < 4; ++j)
                if (row - j >= 0 && row - j < TAPS)
                    sum[j] = fmaf(HAT.tap[row - j][dx], value, sum[j]);
        }
#pragma unroll
    for (int j = 0; j < 4; ++j)
        if (x < width && y0 + v0 + j < height)
            response[(size_t)(y0 + v0 + j) * width + x] = sum[j];
#endif
}
