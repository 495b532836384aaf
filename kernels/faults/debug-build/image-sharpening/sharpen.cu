// Unsharp masking: a pixel moves away from the mean of its neighbourhood of five by five. Beyond the edges the image goes on
// with its outermost pixels.

constexpr int RADIUS = 2, TILE_WIDTH = 32, TILE_HEIGHT = 8;
constexpr float AMOUNT = 0.6f;

// Launch: 2D grid of blocks of 32 x 8 threads, a thread per pixel.
extern "C" __global__ void __launch_bounds__(256)
sharpen(const float* __restrict__ image, float* __restrict__ sharp, int width, int height)
{
    __shared__ float tile[TILE_HEIGHT + 2 * RADIUS][TILE_WIDTH + 2 * RADIUS];
    const int left = blockIdx.x * TILE_WIDTH - RADIUS, top = blockIdx.y * TILE_HEIGHT - RADIUS;
    for (int row = threadIdx.y; row < TILE_HEIGHT + 2 * RADIUS; row += TILE_HEIGHT) {
        for (int column = threadIdx.x; column < TILE_WIDTH + 2 * RADIUS; column += TILE_WIDTH) {
            const int x = min(max(left + column, 0), width - 1), y = min(max(top + row, 0), height - 1);
            tile[row][column] = image[y * width + x];
        }
    }
    __syncthreads();
    float sum = 0.f;
    for (int row = 0; row <= 2 * RADIUS; ++row)
        for (int column = 0; column <= 2 * RADIUS; ++column)
            sum += tile[threadIdx.y + row][threadIdx.x + column];
    const float own = tile[threadIdx.y + RADIUS][threadIdx.x + RADIUS];
    const int x = blockIdx.x * TILE_WIDTH + threadIdx.x, y = blockIdx.y * TILE_HEIGHT + threadIdx.y;
    sharp[y * width + x] = own + AMOUNT * (own - sum / 25.f);
}
