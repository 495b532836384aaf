// Boardings of ferries per quay and day: each boarding is counted at its quay's place, in shared memory.

// Launch: grid (days), block 512.
extern "C" __global__ void count_boardings(const unsigned* __restrict__ quays, unsigned* __restrict__ boardings, int per_day, int all_quays)
{
    __shared__ unsigned here[1024];
    for (int quay = threadIdx.x; quay < all_quays; quay += blockDim.x)
        here[quay] = 0;
    __syncthreads();
    const unsigned* of_day = quays + (size_t)blockIdx.x * per_day;
    for (int i = threadIdx.x; i < per_day; i += blockDim.x)
        atomicAdd(&here[of_day[i]], 1u);
    __syncthreads();
    for (int quay = threadIdx.x; quay < all_quays; quay += blockDim.x)
        boardings[(size_t)blockIdx.x * all_quays + quay] = here[quay];
}
