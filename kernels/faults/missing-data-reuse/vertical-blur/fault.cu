// A vertical blur with 33 triangle weights, a pixel a thread: neighbouring rows load the same pixels again and again,
// from L1 or L2, for one multiplication each.

constexpr int RADIUS = 16;
constexpr int WIDTH = 8192;  // known here, so that the 33 loads share one address

// Launch: grid (WIDTH / 32, height / 8), block (32, 8). `image` has RADIUS rows more above and below.
extern "C" __global__ void __launch_bounds__(256)
blur_pixel(const float* __restrict__ image, float* __restrict__ blurred)
{
    const int x = blockIdx.x * 32 + threadIdx.x;
    const int y = blockIdx.y * 8 + threadIdx.y;
    float sum = 0.0f;
#pragma unroll
    for (int k = -RADIUS; k <= RADIUS; ++k) {
        const float weight = (RADIUS + 1 - (k < 0 ? -k : k)) / float((RADIUS + 1) * (RADIUS + 1));
        sum += weight * image[(y + RADIUS + k) * WIDTH + x];
    }
    blurred[y * WIDTH + x] = sum;
}
