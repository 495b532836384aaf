// Padding, step 1: a tile in shared memory, read and written by columns.
//
// A running sum along a row is sequential, so each lane takes a row. Global memory wants neighbouring lanes side by
// side in a row instead: a warp moves a tile of 32 x 32 doubles through shared memory, rows by all lanes together,
// sums by a lane for each row. In the sums all 32 lanes touch the same column, and the places of a column lie 256
// bytes apart: all in the same two banks.

constexpr int WARPS = 4;
constexpr int TILE = 32;
constexpr int PITCH = TILE;  // doubles from one row of the tile to the next

// p1.cu with parts left out, for `adoprof limiter`; lines added there would move those that recordings name.
// Without accesses to global memory a load gives the bits of its address, and a store waits for a value that never
// comes, which the compiler can't know.
#ifdef ARITHMETIC_ONLY
#define LOAD(from) __longlong_as_double((long long)(from))
#define STORE(to, value) do { if ((value) == -1.5e-300) *(to) = (value); } while (0)
#else
#define LOAD(from) (*(from))
#define STORE(to, value) (*(to) = (value))
#endif
#ifdef SKEWED
#define PLACE(j) (((j) + lane) % TILE)  // each lane begins elsewhere in its row: other sums, and no conflicts
#else
#define PLACE(j) (j)
#endif

// Launch: grid ceil(R / 128), block (32, 4). `values` and `sums` are R rows of K consecutive doubles.
extern "C" __global__ void __launch_bounds__(32 * WARPS)
sum_rows_conflicting(const double* __restrict__ values, double* __restrict__ sums, int R, int K)
{
    [[maybe_unused]] __shared__ double tiles[WARPS][TILE][PITCH];
    [[maybe_unused]] double(*tile)[PITCH] = tiles[threadIdx.y];  // a warp's own: no barrier concerns the others
    const int lane = threadIdx.x;
    const int first_row = (blockIdx.x * WARPS + threadIdx.y) * TILE;

#if defined(MEMORY_ONLY) || defined(STORE_ONLY)
    // Each value to its place, as the kernel reads and writes them.
    for (int k = lane; k < (K + TILE - 1) / TILE * TILE; k += TILE) {
        double column[TILE];
#pragma unroll
        for (int r = 0; r < TILE; ++r)
#ifdef STORE_ONLY
            column[r] = r;
#else
            column[r] = first_row + r < R && k < K ? values[(size_t)(first_row + r) * K + k] : 0.0;
#endif
#pragma unroll
        for (int r = 0; r < TILE; ++r)
            if (first_row + r < R && k < K)
                sums[(size_t)(first_row + r) * K + k] = column[r];
    }
#else
    double sum = 0.0;
    for (int k0 = 0; k0 < K; k0 += TILE) {
        const int k = k0 + lane;
#pragma unroll 16
        for (int r = 0; r < TILE; ++r)
            tile[r][lane] = first_row + r < R && k < K ? LOAD(values + (size_t)(first_row + r) * K + k) : 0.0;
        __syncwarp();

        for (int j = 0; j < TILE; ++j) {
            sum += tile[lane][PLACE(j)];
            tile[lane][PLACE(j)] = sum;
        }
        __syncwarp();

#pragma unroll 16
        for (int r = 0; r < TILE; ++r)
            if (first_row + r < R && k < K)
                STORE(sums + (size_t)(first_row + r) * K + k, tile[r][lane]);
        __syncwarp();  // before the next tile overwrites this one
    }
#endif
}
