// Finds the tallest tree of each cell: height and number are one word of 64 bits, of which an atomic keeps the largest.

constexpr int CELLS = 4096;
constexpr int FINISHED = 3 * CELLS;  // where the blocks are counted

__device__ void compare(unsigned* tops, unsigned cell, unsigned height, unsigned number)
{
    const unsigned long long mine = (unsigned long long)height << 32 | number;
    atomicMax((unsigned long long*)tops + cell, mine);
}

// Launch: a thread per tree, blocks of 256. Heights are above zero, so that they order like their bits. tops[2 * cell] is the
// number of the tallest tree, tops[2 * cell + 1] its height; all of `tops` is zero before and after.
extern "C" __global__ void __launch_bounds__(256)
tallest_by_maxima(const unsigned* __restrict__ cells, const float* __restrict__ heights, unsigned* tops,
                  unsigned* __restrict__ tallest)
{
    const unsigned tree = blockIdx.x * 256 + threadIdx.x;
    compare(tops, cells[tree], __float_as_uint(heights[tree]), tree);

    // The last block to come here has the tallest of all.
    __shared__ bool last;
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0)
        last = atomicAdd(tops + FINISHED, 1u) == gridDim.x - 1;
    __syncthreads();
    if (last) {
        __threadfence();
        for (unsigned cell = threadIdx.x; cell < CELLS; cell += 256) {
            tallest[cell] = *(volatile unsigned*)(tops + 2 * cell);
            tops[2 * cell] = 0;
            tops[2 * cell + 1] = 0;
        }
        if (threadIdx.x == 0)
            tops[FINISHED] = 0;
    }
}
