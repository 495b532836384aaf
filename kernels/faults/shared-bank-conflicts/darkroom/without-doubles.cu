// Develops raw pictures and turns them on their side: a tone curve for each pixel, through a tile in shared memory.
// One fault: the columns of the tile lie in one bank. The literals are floats.

constexpr int TILE = 32;
constexpr int PITCH = TILE;  // floats from row to row of the tile

// Launch: grid (width / 32, height / 32), block (32, 8).
extern "C" __global__ void __launch_bounds__(256)
develop(const float* __restrict__ raw, float* __restrict__ turned, unsigned width, unsigned height)
{
    __shared__ float tile[TILE * PITCH];
    const unsigned x = blockIdx.x * TILE, y = blockIdx.y * TILE;
    for (unsigned row = threadIdx.y; row < TILE; row += 8) {
        const float light = raw[(size_t)(y + row) * width + x + threadIdx.x];
        float tone = light * (1.72f - 0.72f * light);
        tone = tone * (1.18f - 0.18f * tone);
        tone = 0.02f + 0.96f * tone;
        tile[row * PITCH + threadIdx.x] = tone;
    }
    __syncthreads();
    for (unsigned row = threadIdx.y; row < TILE; row += 8)
        turned[(size_t)(x + row) * height + y + threadIdx.x] = tile[threadIdx.x * PITCH + row];
}
