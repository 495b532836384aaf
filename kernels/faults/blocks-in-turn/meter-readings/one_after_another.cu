// An energy meter: the total up to each reading. A block waits for the total of the block before, and then adds up its part.

// Launch: grid (readings / 1024), block 256: four readings per thread. `counters` has how many blocks have started and ended,
// and the number of this launch, which marks what is announced in it; the last block puts the first two back.
extern "C" __global__ void totals(const uint4* __restrict__ readings, uint4* __restrict__ running, unsigned* counters,
                                  unsigned* announced, unsigned* total)
{
    __shared__ unsigned of_warps[8], block, launch, before;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    if (threadIdx.x == 0) {
        // Blocks are numbered in the order in which they start, so that the one waited for is running or has ended.
        block = atomicAdd(&counters[0], 1);
        launch = __ldcg(&counters[2]) + 1;
        before = 0;
        if (block > 0) {
            while (atomicAdd(&announced[block - 1], 0) != launch) {}
            __threadfence();
            before = __ldcg(&total[block - 1]);
        }
    }
    __syncthreads();
    const size_t at = (size_t)block * 256 + threadIdx.x;
    const uint4 own = readings[at];
    const unsigned sum = own.x + own.y + own.z + own.w;
    unsigned scan = sum;
    for (int step = 1; step < 32; step *= 2) {
        const unsigned left = __shfl_up_sync(~0u, scan, step);
        if (lane >= step)
            scan += left;
    }
    if (lane == 31)
        of_warps[warp] = scan;
    __syncthreads();
    scan += before;
    for (int other = 0; other < warp; other++)
        scan += of_warps[other];
    if (threadIdx.x == 255) {
        __stcg(&total[block], scan);
        __threadfence();
        atomicExch(&announced[block], launch);
        if (atomicAdd(&counters[1], 1) == gridDim.x - 1) {
            counters[0] = counters[1] = 0;
            counters[2] = launch;
        }
    }
    const unsigned first = scan - sum;
    uint4 result;
    result.x = first + own.x;
    result.y = result.x + own.y;
    result.z = result.y + own.z;
    result.w = result.z + own.w;
    running[at] = result;
}
