// Matrix product, step 2: the same in blocks of 128 x 1.
//
// The lanes of a warp now count columns: they share one element of A, read 32 consecutive elements of a row of
// B, and write 32 consecutive elements of C. The arithmetic is step 1's to the letter.

// Launch: grid (ceil(n / 128), n), block (128, 1).
extern "C" __global__ void multiply_along_rows(const float* __restrict__ A, const float* __restrict__ B,
                                               float* __restrict__ C, int n)
{
    const int row = blockIdx.y;
    const int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (col >= n)
        return;

    float sum = 0.0f;
    for (int k = 0; k < n; ++k)
        sum += A[(size_t)row * n + k] * B[(size_t)k * n + col];
    C[(size_t)row * n + col] = sum;
}
