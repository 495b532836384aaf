// Counts the people in square tiles of a map. A block goes through tiles with the grid's stride; a thread adds up a row of
// the tile, or a column, and the block adds up its threads.

constexpr unsigned SIDE = 512;  // of a tile, in places

// Launch: any grid, block 512. The map is tiles_x * SIDE places wide.
extern "C" __global__ void __launch_bounds__(512)
count_people(const unsigned* __restrict__ map, unsigned* __restrict__ totals, unsigned tiles_x, unsigned tiles)
{
    __shared__ unsigned total;
    const unsigned width = tiles_x * SIDE;
#pragma unroll 1
    for (unsigned tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
        const unsigned corner = tile / tiles_x * SIDE * width + tile % tiles_x * SIDE;
#ifdef BY_COLUMN
        const unsigned first = corner + threadIdx.x;
        const unsigned stride = width;
#else
        const unsigned first = corner + threadIdx.x * width;
        const unsigned stride = 1;
#endif
        unsigned sum = 0;
#pragma unroll 8
        for (unsigned k = 0; k < SIDE; ++k)
            sum += map[first + k * stride];
        if (threadIdx.x == 0)
            total = 0;
        __syncthreads();
        atomicAdd(&total, sum);
        __syncthreads();
        if (threadIdx.x == 0)
            totals[tile] = total;
    }
}
