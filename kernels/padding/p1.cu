// Padding, step 1: a tile in shared memory, read and written by columns.
//
// A running sum along a row is sequential, so each lane takes a row. Global memory wants neighbouring lanes side by
// side in a row instead: a warp moves a tile of 32 x 32 doubles through shared memory, rows by all lanes together,
// sums by a lane for each row. In the sums all 32 lanes touch the same column, and the places of a column lie 256
// bytes apart: all in the same two banks.

constexpr int WARPS = 4;
constexpr int TILE = 32;
constexpr int PITCH = TILE;  // doubles from one row of the tile to the next

// Launch: grid ceil(R / 128), block (32, 4). `values` and `sums` are R rows of K consecutive doubles.
extern "C" __global__ void __launch_bounds__(32 * WARPS)
sum_rows_conflicting(const double* __restrict__ values, double* __restrict__ sums, int R, int K)
{
    __shared__ double tiles[WARPS][TILE][PITCH];
    double(*tile)[PITCH] = tiles[threadIdx.y];  // a warp's own: no barrier concerns the others
    const int lane = threadIdx.x;
    const int first_row = (blockIdx.x * WARPS + threadIdx.y) * TILE;

    double sum = 0.0;
    for (int k0 = 0; k0 < K; k0 += TILE) {
        const int k = k0 + lane;
#pragma unroll 16
        for (int r = 0; r < TILE; ++r)
            tile[r][lane] = first_row + r < R && k < K ? values[(size_t)(first_row + r) * K + k] : 0.0;
        __syncwarp();

        for (int j = 0; j < TILE; ++j) {
            sum += tile[lane][j];
            tile[lane][j] = sum;
        }
        __syncwarp();

#pragma unroll 16
        for (int r = 0; r < TILE; ++r)
            if (first_row + r < R && k < K)
                sums[(size_t)(first_row + r) * K + k] = tile[r][lane];
        __syncwarp();  // before the next tile overwrites this one
    }
}
