// Matrix product, step 1 with its operands reused, and nothing else: a side step.
//
// The threads stay where step 1 has them: the lanes of a warp lie below each other, and each global access still
// takes a sector for every lane. But a block of 16 x 16 threads now brings a tile of A and one of B into shared
// memory and uses each element 16 times. The rows are a word longer than the tile, so that lanes below each other
// meet in no bank.

constexpr int TILE = 16;

// Launch: grid (ceil(n / 16), ceil(n / 16)), block (16, 16).
extern "C" __global__ void __launch_bounds__(TILE * TILE)
multiply_tiles_down_columns(const float* __restrict__ A, const float* __restrict__ B, float* __restrict__ C, int n)
{
    __shared__ float a[TILE][TILE + 1];
    __shared__ float b[TILE][TILE + 1];
    const int down = threadIdx.x;  // tells the lanes apart, and counts rows
    const int across = threadIdx.y;
    const int row = blockIdx.y * TILE + down;
    const int col = blockIdx.x * TILE + across;

    float sum = 0.0f;
    for (int k0 = 0; k0 < n; k0 += TILE) {
        // What lies outside the matrices counts as zero.
        a[down][across] = row < n && k0 + across < n ? A[(size_t)row * n + k0 + across] : 0.0f;
        b[down][across] = k0 + down < n && col < n ? B[(size_t)(k0 + down) * n + col] : 0.0f;
        __syncthreads();

        for (int k = 0; k < TILE; ++k)
            sum += a[down][k] * b[k][across];
        __syncthreads();  // before the next tiles overwrite these
    }
    if (row < n && col < n)
        C[(size_t)row * n + col] = sum;
}
