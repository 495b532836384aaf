// Matrix product, step 5: the tile of B transposed and padded.
//
// On the GPUs for which this step was invented the compiler could fold the walk over k into constant offsets for
// rows only, so walking down b's columns cost an addition per element. Stored transposed, both tiles are walked
// along rows. The lanes of a warp then read a column, 32 words apart: one float of padding per row moves
// them to 32 different banks. Compilers since then fold both walks: the step is kept for the lesson, not for a gain.

constexpr int TILE = 32;
constexpr int HALF = TILE / 2;
constexpr int PITCH = TILE + 1;

// Launch: grid (ceil(n / 32), ceil(n / 32)), block (32, 16).
extern "C" __global__ void __launch_bounds__(TILE * HALF)
multiply_transposed_tile(const float* __restrict__ A, const float* __restrict__ B, float* __restrict__ C, int n)
{
    __shared__ float a[TILE][TILE];
    __shared__ float b[TILE][PITCH];  // [column][k]
    const int tx = threadIdx.x;
    const int ty = threadIdx.y;
    const int row = blockIdx.y * TILE + ty;
    const int col = blockIdx.x * TILE + tx;

    float upper = 0.0f;
    float lower = 0.0f;
    for (int k0 = 0; k0 < n; k0 += TILE) {
        for (int half = 0; half < TILE; half += HALF) {
            a[ty + half][tx] = row + half < n && k0 + tx < n ? A[(size_t)(row + half) * n + k0 + tx] : 0.0f;
            b[tx][ty + half] = k0 + ty + half < n && col < n ? B[(size_t)(k0 + ty + half) * n + col] : 0.0f;
        }
        __syncthreads();

        for (int k = 0; k < TILE; ++k) {
            upper += a[ty][k] * b[tx][k];
            lower += a[ty + HALF][k] * b[tx][k];
        }
        __syncthreads();
    }
    if (row < n && col < n)
        C[(size_t)row * n + col] = upper;
    if (row + HALF < n && col < n)
        C[(size_t)(row + HALF) * n + col] = lower;
}
