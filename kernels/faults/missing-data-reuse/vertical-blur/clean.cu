// A vertical blur with 33 triangle weights. A thread keeps the sums of four pixels that lie one above the other, and
// each of the 36 pixels that it loads goes into all the sums that it belongs to.

constexpr int RADIUS = 16;
constexpr int PIXELS = 4;
constexpr int WIDTH = 8192;  // known here, so that the 36 loads share one address

// Launch: grid (WIDTH / 32, height / 32), block (32, 8). `image` has RADIUS rows more above and below.
extern "C" __global__ void __launch_bounds__(256)
blur_four(const float* __restrict__ image, float* __restrict__ blurred)
{
    const int x = blockIdx.x * 32 + threadIdx.x;
    const int y = (blockIdx.y * 8 + threadIdx.y) * PIXELS;
    float sums[PIXELS] = {};
#pragma unroll
    for (int k = -RADIUS; k <= RADIUS + PIXELS - 1; ++k) {
        const float pixel = image[(y + RADIUS + k) * WIDTH + x];
#pragma unroll
        for (int p = 0; p < PIXELS; ++p) {
            const int distance = k < p ? p - k : k - p;
            if (distance <= RADIUS)
                sums[p] += (RADIUS + 1 - distance) / float((RADIUS + 1) * (RADIUS + 1)) * pixel;
        }
    }
#pragma unroll
    for (int p = 0; p < PIXELS; ++p)
        blurred[(y + p) * WIDTH + x] = sums[p];
}
