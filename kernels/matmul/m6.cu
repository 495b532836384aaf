// Matrix product, step 6: only one operand in shared memory.
//
// The product is seen as a sum of rank-1 updates: a column of A times a row of B. A thread owns one column of a
// 32 x 128 block of C and keeps its 32 elements in registers. Its element of B's row comes straight from global
// memory into a register and serves 32 multiply-adds; A's column is the only thing in shared memory, and all lanes
// read the same element of it, which is a broadcast. Neither tile is loaded twice for a use any more.

constexpr int ROWS = 32;    // elements of C that a thread keeps
constexpr int COLS = 128;   // threads, a column each
constexpr int DEPTH = 16;   // columns of A in shared memory at a time

// Launch: grid (ceil(n / 128), ceil(n / 32)), block 128.
extern "C" __global__ void __launch_bounds__(COLS)
multiply_rank_one(const float* __restrict__ A, const float* __restrict__ B, float* __restrict__ C, int n)
{
    // [k][row]: a thread walks the rows of one k. The padding spreads the transposing stores over the banks and
    // keeps rows 16-byte aligned, so that the compiler can fetch four elements at once.
    __shared__ __align__(16) float a[DEPTH][ROWS + 4];
    const int first_row = blockIdx.y * ROWS;
    const int col = blockIdx.x * COLS + threadIdx.x;

    float sum[ROWS] = {};
    for (int k0 = 0; k0 < n; k0 += DEPTH) {
        for (int i = threadIdx.x; i < ROWS * DEPTH; i += COLS) {
            const int k = i % DEPTH;
            const int r = i / DEPTH;
            a[k][r] = first_row + r < n && k0 + k < n ? A[(size_t)(first_row + r) * n + k0 + k] : 0.0f;
        }
        __syncthreads();

#pragma unroll
        for (int k = 0; k < DEPTH; ++k) {
            const float b = k0 + k < n && col < n ? B[(size_t)(k0 + k) * n + col] : 0.0f;
#pragma unroll
            for (int r = 0; r < ROWS; ++r)
                sum[r] += a[k][r] * b;
        }
        __syncthreads();
    }
#pragma unroll
    for (int r = 0; r < ROWS; ++r)
        if (first_row + r < n && col < n)
            C[(size_t)(first_row + r) * n + col] = sum[r];
}
