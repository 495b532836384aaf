// Matrix product, step 3: tiles in shared memory.
//
// In step 2 every product fetches both of its operands through the caches. Here a block of 16 x 16 threads brings
// a 16 x 16 tile of A and one of B into shared memory and uses each element 16 times. Global traffic falls by 16;
// what is left is two shared-memory loads for every multiply-add.

constexpr int TILE = 16;

// Launch: grid (ceil(n / 16), ceil(n / 16)), block (16, 16).
extern "C" __global__ void __launch_bounds__(TILE * TILE)
multiply_tiles(const float* __restrict__ A, const float* __restrict__ B, float* __restrict__ C, int n)
{
    __shared__ float a[TILE][TILE];
    __shared__ float b[TILE][TILE];
    const int tx = threadIdx.x;
    const int ty = threadIdx.y;
    const int row = blockIdx.y * TILE + ty;
    const int col = blockIdx.x * TILE + tx;

    float sum = 0.0f;
    for (int k0 = 0; k0 < n; k0 += TILE) {
        // What lies outside the matrices counts as zero.
        a[ty][tx] = row < n && k0 + tx < n ? A[(size_t)row * n + k0 + tx] : 0.0f;
        b[ty][tx] = k0 + ty < n && col < n ? B[(size_t)(k0 + ty) * n + col] : 0.0f;
        __syncthreads();

        for (int k = 0; k < TILE; ++k)
            sum += a[ty][k] * b[k][tx];
        __syncthreads();  // before the next tiles overwrite these
    }
    if (row < n && col < n)
        C[(size_t)row * n + col] = sum;
}
