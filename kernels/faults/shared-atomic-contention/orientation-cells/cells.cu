// Gradients of an image summed up by octant of their direction, for cells of 128 by 128 pixels. COPIES of the eight sums are kept
// by lane while the cell is read.

constexpr int CELL = 128;
constexpr int OCTANTS = 8;

// Launch: a block of 256 a cell, grid in 2D.
extern "C" __global__ void __launch_bounds__(256)
describe(const uint2* __restrict__ across, const uint2* __restrict__ down, unsigned* __restrict__ sums, int width)
{
    __shared__ unsigned own[OCTANTS * COPIES];
    for (int n = threadIdx.x; n < OCTANTS * COPIES; n += 256)
        own[n] = 0;
    __syncthreads();

    const int eighth = threadIdx.x % 16, copy = threadIdx.x % COPIES;
#pragma unroll 2
    for (int row = threadIdx.x / 16; row < CELL; row += 16) {
        const size_t at = (size_t)(blockIdx.y * CELL + row) * (width / 8) + blockIdx.x * 16 + eighth;
        const uint2 gx = across[at], gy = down[at];
#pragma unroll
        for (int n = 0; n < 8; ++n) {
            const int x = (int)(((n < 4 ? gx.x : gx.y) >> (8 * (n % 4))) & 255) - 128;
            const int y = (int)(((n < 4 ? gy.x : gy.y) >> (8 * (n % 4))) & 255) - 128;
            const int wide = abs(x), high = abs(y);
            const int octant = (x < 0 ? 1 : 0) + (y < 0 ? 2 : 0) + (wide < high ? 4 : 0);
            atomicAdd(&own[octant * COPIES + copy], (unsigned)(wide + high));
        }
    }
    __syncthreads();

    // A warp an octant.
    const int octant = threadIdx.x / 32, lane = threadIdx.x % 32;
    const unsigned sum = __reduce_add_sync(~0u, lane < COPIES ? own[octant * COPIES + lane] : 0);
    if (lane == 0)
        sums[((size_t)blockIdx.y * gridDim.x + blockIdx.x) * OCTANTS + octant] = sum;
}
