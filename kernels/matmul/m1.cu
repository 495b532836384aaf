// Matrix product, step 1: a thread for each element of C, in blocks of 1 x 128.
//
// Everything that the step needs to be right is here, and the one thing that makes it slow: threadIdx.y, which
// tells the lanes of a warp apart, counts rows. A warp reads 32 rows of A and writes 32 rows of C, each access
// in a sector of its own, n floats apart.

// Launch: grid (n, ceil(n / 128)), block (1, 128). C = A * B, all n x n, row by row.
extern "C" __global__ void multiply_down_columns(const float* __restrict__ A, const float* __restrict__ B,
                                                 float* __restrict__ C, int n)
{
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    const int col = blockIdx.x;
    if (row >= n)
        return;

    float sum = 0.0f;
    for (int k = 0; k < n; ++k)
        sum += A[(size_t)row * n + k] * B[(size_t)k * n + col];
    C[(size_t)row * n + col] = sum;
}
