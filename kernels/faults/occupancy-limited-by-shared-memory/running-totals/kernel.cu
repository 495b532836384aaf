// Running totals of the daily sales of shops, a block for each shop. The warps' sums meet in shared memory, of which the
// block needs a word for every four days of a shop; LONGEST is the number of days that it has room for.

#ifndef LONGEST
#define LONGEST 512
#endif

constexpr int DAYS = 512;
static_assert(LONGEST >= DAYS, "the days of a shop fit");

// Launch: grid shops, block 128.
extern "C" __global__ void __launch_bounds__(128)
sum_days(const uint4* __restrict__ sales, uint4* __restrict__ totals)
{
    __shared__ unsigned sums[LONGEST / 4];
    const int t = threadIdx.x;
    const uint4 day = sales[blockIdx.x * (DAYS / 4) + t];
    const unsigned own = day.x + day.y + day.z + day.w;
    unsigned sum = own;
    for (int distance = 1; distance < DAYS / 4; distance *= 2) {
        sums[t] = sum;
        __syncthreads();
        if (t >= distance)
            sum += sums[t - distance];
        __syncthreads();
    }
    const unsigned before = sum - own;
    const unsigned two = before + day.x + day.y;
    totals[blockIdx.x * (DAYS / 4) + t] = make_uint4(before + day.x, two, two + day.z, sum);
}
