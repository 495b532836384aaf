// A vertical blur with 33 triangle weights, a pixel a thread: neighbouring rows load the same pixels again and again,
// from L1 or L2, for one multiplication each.

constexpr int RADIUS = 16;

// Launch: grid (width / 32, height / 8), block (32, 8).
extern "C" __global__ void __launch_bounds__(256)
blur_pixel(const float* __restrict__ image, float* __restrict__ blurred, int width, int height)
{
    const int x = blockIdx.x * 32 + threadIdx.x;
    const int y = blockIdx.y * 8 + threadIdx.y;
    float sum = 0.0f;
#pragma unroll
    for (int k = -RADIUS; k <= RADIUS; ++k) {
        const int row = min(max(y + k, 0), height - 1);
        const float weight = (RADIUS + 1 - (k < 0 ? -k : k)) / float((RADIUS + 1) * (RADIUS + 1));
        sum += weight * image[row * width + x];
    }
    blurred[y * width + x] = sum;
}
