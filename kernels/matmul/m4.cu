// Matrix product, step 4: blocks of 32 x 16 threads on tiles of 32 x 32.
//
// A thread computes two elements of C, 16 rows apart. They share their element of B, so that two multiply-adds
// need three loads from shared memory instead of four; and the larger tile halves the global traffic again.

constexpr int TILE = 32;
constexpr int HALF = TILE / 2;

// Launch: grid (ceil(n / 32), ceil(n / 32)), block (32, 16).
extern "C" __global__ void __launch_bounds__(TILE * HALF)
multiply_two_rows(const float* __restrict__ A, const float* __restrict__ B, float* __restrict__ C, int n)
{
    __shared__ float a[TILE][TILE];
    __shared__ float b[TILE][TILE];
    const int tx = threadIdx.x;
    const int ty = threadIdx.y;
    const int row = blockIdx.y * TILE + ty;
    const int col = blockIdx.x * TILE + tx;

    float upper = 0.0f;
    float lower = 0.0f;
    for (int k0 = 0; k0 < n; k0 += TILE) {
        for (int half = 0; half < TILE; half += HALF) {
            a[ty + half][tx] = row + half < n && k0 + tx < n ? A[(size_t)(row + half) * n + k0 + tx] : 0.0f;
            b[ty + half][tx] = k0 + ty + half < n && col < n ? B[(size_t)(k0 + ty + half) * n + col] : 0.0f;
        }
        __syncthreads();

        for (int k = 0; k < TILE; ++k) {
            upper += a[ty][k] * b[k][tx];
            lower += a[ty + HALF][k] * b[k][tx];
        }
        __syncthreads();
    }
    if (row < n && col < n)
        C[(size_t)row * n + col] = upper;
    if (row + HALF < n && col < n)
        C[(size_t)(row + HALF) * n + col] = lower;
}
