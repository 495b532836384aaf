// The parity of each part of a disk image. A read-only stream at the rate of device memory: four 16-byte loads a thread
// on their way, the sum of a block at its end.

constexpr int PART = 65536 / 4;  // uint4 of a block
constexpr int THREADS = 256;
constexpr int AHEAD = 4;

// Launch: grid words / 65536, block 256.
extern "C" __global__ void __launch_bounds__(THREADS)
parity(const uint4* __restrict__ image, unsigned* __restrict__ parities)
{
    const uint4* part = image + (size_t)blockIdx.x * PART + threadIdx.x;
    unsigned parity = 0;
#pragma unroll 1
    for (int i = 0; i < PART; i += AHEAD * THREADS) {
        uint4 words[AHEAD];
#pragma unroll
        for (int k = 0; k < AHEAD; ++k)
            words[k] = part[i + k * THREADS];
#pragma unroll
        for (int k = 0; k < AHEAD; ++k)
            parity ^= words[k].x ^ words[k].y ^ words[k].z ^ words[k].w;
    }
    for (int distance = 16; distance > 0; distance /= 2)
        parity ^= __shfl_xor_sync(~0u, parity, distance);

    __shared__ unsigned warps[THREADS / 32];
    if (threadIdx.x % 32 == 0)
        warps[threadIdx.x / 32] = parity;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int warp = 1; warp < THREADS / 32; ++warp)
            parity ^= warps[warp];
        parities[blockIdx.x] = parity;
    }
}
