// Traffic accounting at a router: octets by class of service, one row of totals for each collector (block). Class 0 is best effort,
// which most packets are.

static __device__ __forceinline__ int service_class(unsigned mark)
{
    return (int)(mark >= 200u) + (int)(mark >= 232u) + (int)(mark >= 248u);
}

#ifdef COPIES
constexpr int W = 32;
#else
constexpr int W = 1;
#endif

// Launch: any grid, block 320; packets in fours, grid-stride.
extern "C" __global__ void __launch_bounds__(320)
account(const uchar4* __restrict__ marks, const ushort4* __restrict__ lengths, unsigned* __restrict__ totals, int fours)
{
    __shared__ unsigned octets[4 * W];
    for (int j = threadIdx.x; j < 4 * W; j += 320)
        octets[j] = 0;
    __syncthreads();
    const int own = threadIdx.x % W;
    for (int i = blockIdx.x * 320 + threadIdx.x; i < fours; i += gridDim.x * 320) {
        const uchar4 mark = marks[i];
        const ushort4 length = lengths[i];
        atomicAdd(&octets[service_class(mark.x) * W + own], (unsigned)length.x);
        atomicAdd(&octets[service_class(mark.y) * W + own], (unsigned)length.y);
        atomicAdd(&octets[service_class(mark.z) * W + own], (unsigned)length.z);
        atomicAdd(&octets[service_class(mark.w) * W + own], (unsigned)length.w);
    }
    __syncthreads();
    if (threadIdx.x < 4) {
        unsigned sum = 0;
        for (int j = 0; j < W; ++j)
            sum += octets[threadIdx.x * W + (j + threadIdx.x) % W];
        totals[blockIdx.x * 4 + threadIdx.x] = sum;
    }
}
