// The volume of large trades by instrument, from a day's tape of instruments and quantities.

constexpr int INSTRUMENTS = 64;

// Launch: one block of 64.
extern "C" __global__ void clear(unsigned* __restrict__ volume)
{
    volume[threadIdx.x] = 0;
}

// Launch: any grid, block 256. Four trades a thread at a time.
extern "C" __global__ void __launch_bounds__(256)
add_up(const uchar4* __restrict__ instrument, const uint4* __restrict__ quantity, unsigned* __restrict__ volume, int quads,
       unsigned large)
{
#ifdef OF_BLOCK
    __shared__ unsigned sums[INSTRUMENTS];
    if (threadIdx.x < INSTRUMENTS)
        sums[threadIdx.x] = 0;
    __syncthreads();
#else
    unsigned* const sums = volume;
#endif
    for (int q = blockIdx.x * 256 + threadIdx.x; q < quads; q += gridDim.x * 256) {
        const uchar4 which = instrument[q];
        const uint4 many = quantity[q];
        if (many.x >= large)
            atomicAdd(&sums[which.x], many.x);
        if (many.y >= large)
            atomicAdd(&sums[which.y], many.y);
        if (many.z >= large)
            atomicAdd(&sums[which.z], many.z);
        if (many.w >= large)
            atomicAdd(&sums[which.w], many.w);
    }
#ifdef OF_BLOCK
    __syncthreads();
    if (threadIdx.x < INSTRUMENTS)
        atomicAdd(&volume[threadIdx.x], sums[threadIdx.x]);
#endif
}
