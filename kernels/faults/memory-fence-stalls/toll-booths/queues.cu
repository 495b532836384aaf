// Queues before toll booths, minute by minute: cars come at random, the booth serves what it can, and each minute's queue
// goes to a log, which another kernel may read as soon as the booth's block has said that it is done.

struct Log {
    unsigned char* lengths;
    size_t at, stride;

    __device__ __forceinline__ void append(unsigned length)
    {
        lengths[at] = min(length, 255u);
        at += stride;
#ifdef PUBLISH_EACH
        __threadfence();
#endif
    }
    __device__ __forceinline__ void close()
    {
#ifndef PUBLISH_EACH
        __threadfence();
#endif
    }
};

// Launch: grid over the booths, block 256. `rate` in cars for 256 minutes.
extern "C" __global__ void __launch_bounds__(256)
queues(const unsigned* __restrict__ seed, const unsigned char* __restrict__ rate, unsigned char* __restrict__ lengths,
       unsigned* __restrict__ done, int booths, int minutes)
{
    const int booth = blockIdx.x * blockDim.x + threadIdx.x;
    if (booth < booths) {
        Log log = {lengths, (size_t)booth, (size_t)booths};
        unsigned random = seed[booth], waiting = 0;
        const unsigned busy = rate[booth];
#pragma unroll 1
        for (int m = 0; m < minutes; ++m) {
            random = random * 1664525u + 1013904223u;
            waiting += ((random >> 24) < busy) + ((random >> 16 & 255) < busy) + ((random >> 8 & 255) < busy / 2);
            waiting -= min(waiting, 1u);
            log.append(waiting);
        }
        log.close();
    }
    __syncthreads();
    if (threadIdx.x == 0)
        *(volatile unsigned*)&done[blockIdx.x] = minutes;
}
