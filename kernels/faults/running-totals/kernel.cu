// Running totals of the daily sales of shops, a block for each shop. The warps' sums meet in shared memory, of which the
// block needs as much as a shop has days; LONGEST is what it asks for.

#ifndef LONGEST
#define LONGEST 512
#endif

constexpr int DAYS = 512;
static_assert(LONGEST >= DAYS, "the days of a shop fit");

// Launch: grid shops, block 128.
extern "C" __global__ void __launch_bounds__(128)
sum_days(const uint4* __restrict__ sales, uint4* __restrict__ totals)
{
    __shared__ uint4 row[LONGEST / 4];
    const int t = threadIdx.x;
    const uint4 day = sales[blockIdx.x * (DAYS / 4) + t];
    row[t] = make_uint4(day.x, day.x + day.y, day.x + day.y + day.z, day.x + day.y + day.z + day.w);
    for (int distance = 1; distance < DAYS / 4; distance *= 2) {
        __syncthreads();
        const unsigned before = t >= distance ? row[t - distance].w : 0;
        __syncthreads();
        uint4 own = row[t];
        own.x += before;
        own.y += before;
        own.z += before;
        own.w += before;
        row[t] = own;
    }
    totals[blockIdx.x * (DAYS / 4) + t] = row[t];
}
