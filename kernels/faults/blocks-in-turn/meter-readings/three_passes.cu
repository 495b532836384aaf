// Energy meters: the running total over a feeder's readings. Sums of blocks, their scan, and the totals with what lies before.

__device__ unsigned scan_of_block(unsigned sum, unsigned* of_warps)
{
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    unsigned scan = sum;
    for (int step = 1; step < 32; step *= 2) {
        const unsigned left = __shfl_up_sync(~0u, scan, step);
        if (lane >= step)
            scan += left;
    }
    if (lane == 31)
        of_warps[warp] = scan;
    __syncthreads();
    for (int other = 0; other < warp; other++)
        scan += of_warps[other];
    return scan;
}

// Launch: grid (readings / 1024), block 256: the sum of each block's readings.
extern "C" __global__ void sums(const uint4* __restrict__ readings, unsigned* __restrict__ total)
{
    __shared__ unsigned of_warps[8];
    const uint4 own = readings[(size_t)blockIdx.x * 256 + threadIdx.x];
    const unsigned scan = scan_of_block(own.x + own.y + own.z + own.w, of_warps);
    if (threadIdx.x == 255)
        total[blockIdx.x] = scan;
}

// Launch: grid (1), block 1024: what lies before each block, `each` blocks per thread.
extern "C" __global__ void scan_sums(unsigned* __restrict__ total, int each)
{
    __shared__ unsigned of_warps[32];
    unsigned* own = total + threadIdx.x * each;
    unsigned sum = 0;
    for (int at = 0; at < each; at++)
        sum += own[at];
    unsigned before = scan_of_block(sum, of_warps) - sum;
    for (int at = 0; at < each; at++) {
        const unsigned value = own[at];
        own[at] = before;
        before += value;
    }
}

// Launch: grid (readings / 1024), block 256: four readings per thread.
extern "C" __global__ void totals(const uint4* __restrict__ readings, uint4* __restrict__ running,
                                  const unsigned* __restrict__ total)
{
    __shared__ unsigned of_warps[8];
    const size_t at = (size_t)blockIdx.x * 256 + threadIdx.x;
    const uint4 own = readings[at];
    const unsigned sum = own.x + own.y + own.z + own.w;
    const unsigned first = total[blockIdx.x] + scan_of_block(sum, of_warps) - sum;
    uint4 result;
    result.x = first + own.x;
    result.y = result.x + own.y;
    result.z = result.y + own.z;
    result.w = result.z + own.w;
    running[at] = result;
}
