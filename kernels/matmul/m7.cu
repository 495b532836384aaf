// Matrix product, step 7: tiles of 8 x 8 in registers.
//
// Rank-1 updates again, now in both directions: for each k a thread reads 8 elements of A's column and 8 of B's row
// from shared memory and makes 64 multiply-adds of them. Step 6 needed 33 loads for 32; here it is 16 for
// 64. A block of 16 x 16 threads covers 128 x 128 elements of C.

constexpr int TILE = 128;          // a block computes TILE x TILE elements
constexpr int DEPTH = 8;           // depth of the tiles in shared memory
constexpr int SIDE = 16;           // the block is SIDE x SIDE threads
constexpr int EACH = TILE / SIDE;  // a thread computes EACH x EACH elements
constexpr int THREADS = SIDE * SIDE;

// Launch: grid (ceil(n / 128), ceil(n / 128)), block (16, 16). Two blocks are to fit an SM's registers.
extern "C" __global__ void __launch_bounds__(THREADS, 2)
multiply_register_tiles(const float* __restrict__ A, const float* __restrict__ B, float* __restrict__ C, int n)
{
    __shared__ float a[DEPTH][TILE + 4];  // [k][row], padded for the transposing stores
    __shared__ float b[DEPTH][TILE];      // [k][column]
    const int tx = threadIdx.x;
    const int ty = threadIdx.y;
    const int thread = ty * SIDE + tx;
    const int first_row = blockIdx.y * TILE;
    const int first_col = blockIdx.x * TILE;

    float sum[EACH][EACH] = {};
    for (int k0 = 0; k0 < n; k0 += DEPTH) {
#pragma unroll
        for (int i = thread; i < TILE * DEPTH; i += THREADS) {
            const int k = i % DEPTH;
            const int row = first_row + i / DEPTH;
            a[k][i / DEPTH] = row < n && k0 + k < n ? A[(size_t)row * n + k0 + k] : 0.0f;
        }
#pragma unroll
        for (int i = thread; i < TILE * DEPTH; i += THREADS) {
            const int k = k0 + i / TILE;
            const int col = first_col + i % TILE;
            b[i / TILE][i % TILE] = k < n && col < n ? B[(size_t)k * n + col] : 0.0f;
        }
        __syncthreads();

#pragma unroll
        for (int k = 0; k < DEPTH; ++k) {
            // A thread's rows and columns lie SIDE apart, so that the lanes read neighbouring words.
            float column[EACH], row[EACH];
#pragma unroll
            for (int r = 0; r < EACH; ++r)
                column[r] = a[k][ty + r * SIDE];
#pragma unroll
            for (int c = 0; c < EACH; ++c)
                row[c] = b[k][tx + c * SIDE];
#pragma unroll
            for (int r = 0; r < EACH; ++r)
#pragma unroll
                for (int c = 0; c < EACH; ++c)
                    sum[r][c] += column[r] * row[c];
        }
        __syncthreads();
    }

#pragma unroll
    for (int r = 0; r < EACH; ++r) {
        const int row = first_row + ty + r * SIDE;
#pragma unroll
        for (int c = 0; c < EACH; ++c) {
            const int col = first_col + tx + c * SIDE;
            if (row < n && col < n)
                C[(size_t)row * n + col] = sum[r][c];
        }
    }
}
