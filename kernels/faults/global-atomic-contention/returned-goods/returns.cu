// What returned goods cost a shop, by the reason that customers gave: rows of a sales table with a state, a reason and an amount
// in cents. Few sales come back; their amounts are summed in a table of 40 reasons, modulo 2^32.

constexpr int REASONS = 40;

// Launch: one block.
extern "C" __global__ void clear(unsigned* __restrict__ total)
{
    if (threadIdx.x < REASONS)
        total[threadIdx.x] = 0;
}

__device__ __forceinline__ void book(unsigned* total, unsigned state, unsigned reason, unsigned cents, unsigned returned)
{
    if (state < returned)
        atomicAdd(&total[reason], cents);
}

// Launch: any grid, block 512. A row's state is "returned" where it is less than `returned`; rows are a multiple of four.
extern "C" __global__ void __launch_bounds__(512)
cost_of_returns(const uchar4* __restrict__ states, const uchar4* __restrict__ reasons, const uint4* __restrict__ amounts,
                unsigned* __restrict__ total, int quads, unsigned returned)
{
#ifdef OWN_TABLE
    __shared__ unsigned sums[REASONS];
    if (threadIdx.x < REASONS)
        sums[threadIdx.x] = 0;
    __syncthreads();
#else
    unsigned* sums = total;
#endif
    for (int q = blockIdx.x * 512 + threadIdx.x; q < quads; q += gridDim.x * 512) {
        const uchar4 state = states[q], reason = reasons[q];
        const uint4 amount = amounts[q];
        book(sums, state.x, reason.x, amount.x, returned);
        book(sums, state.y, reason.y, amount.y, returned);
        book(sums, state.z, reason.z, amount.z, returned);
        book(sums, state.w, reason.w, amount.w, returned);
    }
#ifdef OWN_TABLE
    __syncthreads();
    if (threadIdx.x < REASONS)
        atomicAdd(&total[threadIdx.x], sums[threadIdx.x]);
#endif
}
