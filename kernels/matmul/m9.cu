// Matrix product, step 9: double buffering.
//
// In step 8 a tile is loaded, waited for, and used. Here the next tiles are on their way into registers while these
// are used, and go to a second pair of buffers, so that one barrier per tile is enough: nobody overwrites what a
// slower warp still reads.

constexpr int TILE = 128;          // a block computes TILE x TILE elements
constexpr int DEPTH = 8;           // depth of the tiles in shared memory
constexpr int SIDE = 16;           // the block is SIDE x SIDE threads
constexpr int EACH = TILE / SIDE;  // a thread computes EACH x EACH elements, in quads of 4
constexpr int QUADS = EACH / 4;
constexpr int THREADS = SIDE * SIDE;
constexpr int PITCH = TILE + 4;    // of A's tile: keeps rows 16-byte aligned, spreads the stores over the banks
static_assert(TILE * DEPTH == 4 * THREADS, "every thread loads one quad of each tile");

// Four consecutive floats of a row from column j on; what lies outside the n x n matrix is zero. Rows start on 16
// bytes only where n is a multiple of 4; elsewhere the four come one by one.
__device__ __forceinline__ float4 load_quad(const float* __restrict__ matrix, int row, int j, int n)
{
    float4 v = {0.0f, 0.0f, 0.0f, 0.0f};
    if (row >= n || j >= n)
        return v;
    const float* from = matrix + (size_t)row * n + j;
    if (n % 4 == 0)
        return *(const float4*)from;
    v.x = from[0];
    if (j + 1 < n) v.y = from[1];
    if (j + 2 < n) v.z = from[2];
    if (j + 3 < n) v.w = from[3];
    return v;
}

__device__ __forceinline__ void store_quad(float* __restrict__ matrix, int row, int j, int n, const float* v)
{
    if (row >= n || j >= n)
        return;
    float* to = matrix + (size_t)row * n + j;
    if (n % 4 == 0) {
        *(float4*)to = make_float4(v[0], v[1], v[2], v[3]);
        return;
    }
    for (int i = 0; i < 4; ++i)
        if (j + i < n)
            to[i] = v[i];
}

// A thread's share of the rank-1 updates of one tile.
__device__ __forceinline__ void update(float (&sum)[EACH][EACH], const float (&a)[DEPTH][PITCH],
                                       const float (&b)[DEPTH][TILE])
{
    const int ty = threadIdx.y;
    const int tx = threadIdx.x;
#pragma unroll
    for (int k = 0; k < DEPTH; ++k) {
        __align__(16) float column[EACH], row[EACH];
#pragma unroll
        for (int q = 0; q < QUADS; ++q) {
            *(float4*)&column[4 * q] = *(const float4*)&a[k][4 * (ty + q * SIDE)];
            *(float4*)&row[4 * q] = *(const float4*)&b[k][4 * (tx + q * SIDE)];
        }
#pragma unroll
        for (int r = 0; r < EACH; ++r)
#pragma unroll
            for (int c = 0; c < EACH; ++c)
                sum[r][c] += column[r] * row[c];
    }
}

// Launch: grid (ceil(n / 128), ceil(n / 128)), block (16, 16).
extern "C" __global__ void __launch_bounds__(THREADS, 2)
multiply_double_buffered(const float* __restrict__ A, const float* __restrict__ B, float* __restrict__ C, int n)
{
    __shared__ __align__(16) float a[2][DEPTH][PITCH];  // [buffer][k][row]
    __shared__ __align__(16) float b[2][DEPTH][TILE];   // [buffer][k][column]
    const int thread = threadIdx.y * SIDE + threadIdx.x;
    const int first_row = blockIdx.y * TILE;
    const int first_col = blockIdx.x * TILE;
    const int a_row = thread / (DEPTH / 4);  // the quad of A that this thread loads...
    const int a_k = thread % (DEPTH / 4) * 4;
    const int b_k = thread / (TILE / 4);     // ...and the one of B
    const int b_col = thread % (TILE / 4) * 4;

    float sum[EACH][EACH] = {};
    float4 next_a = load_quad(A, first_row + a_row, a_k, n);
    float4 next_b = load_quad(B, b_k, first_col + b_col, n);
    for (int k0 = 0, buffer = 0; k0 < n; k0 += DEPTH, buffer ^= 1) {
        a[buffer][a_k + 0][a_row] = next_a.x;
        a[buffer][a_k + 1][a_row] = next_a.y;
        a[buffer][a_k + 2][a_row] = next_a.z;
        a[buffer][a_k + 3][a_row] = next_a.w;
        *(float4*)&b[buffer][b_k][b_col] = next_b;
        __syncthreads();

        next_a = load_quad(A, first_row + a_row, k0 + DEPTH + a_k, n);
        next_b = load_quad(B, k0 + DEPTH + b_k, first_col + b_col, n);
        update(sum, a[buffer], b[buffer]);
    }

#pragma unroll
    for (int r = 0; r < EACH; ++r) {
        const int row = first_row + 4 * (threadIdx.y + r / 4 * SIDE) + r % 4;
#pragma unroll
        for (int q = 0; q < QUADS; ++q)
            store_quad(C, row, first_col + 4 * (threadIdx.x + q * SIDE), n, &sum[r][4 * q]);
    }
}
