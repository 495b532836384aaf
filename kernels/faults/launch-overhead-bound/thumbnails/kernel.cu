// Blurs thumbnails with a 3 x 3 box. The launch says which is the first; the grid says how many.

constexpr int WIDTH = 256;
constexpr int HEIGHT = 96;

// Launch: grid (HEIGHT / 4, thumbnails), block (64, 4). A thread has every 64th pixel of a row.
extern "C" __global__ void __launch_bounds__(256)
blur_thumbnails(const float* __restrict__ thumbnails, float* __restrict__ blurred, unsigned first)
{
    const unsigned offset = (first + blockIdx.y) * WIDTH * HEIGHT;
    const int y = blockIdx.x * 4 + threadIdx.y;
#pragma unroll
    for (int x = threadIdx.x; x < WIDTH; x += 64) {
        float sum = 0.0f;
#pragma unroll
        for (int dy = -1; dy <= 1; ++dy) {
#pragma unroll
            for (int dx = -1; dx <= 1; ++dx) {
                // Pixels beyond the edge are as those on it.
                const int u = min(max(x + dx, 0), WIDTH - 1);
                const int v = min(max(y + dy, 0), HEIGHT - 1);
                sum += thumbnails[offset + v * WIDTH + u];
            }
        }
        blurred[offset + y * WIDTH + x] = sum * (1.0f / 9.0f);
    }
}
