// Adds up the brightness of pixels by zone. COPIES says how many copies of the 16 sums there are in shared memory: with one
// copy the lanes of a warp want the same words. WIDE has 16 pixels come in one access instead of byte by byte.

#ifndef COPIES
#define COPIES 1
#endif

constexpr int ZONES = 16;
constexpr int THREADS = 256;
constexpr int TILE = 65536;  // pixels

// Launch: grid pixels / 65536, block 256.
extern "C" __global__ void __launch_bounds__(THREADS)
light_by_zone(const unsigned char* __restrict__ zones, const unsigned char* __restrict__ brightness,
              unsigned* __restrict__ light)
{
    __shared__ unsigned sums[ZONES * COPIES];
    for (int i = threadIdx.x; i < ZONES * COPIES; i += THREADS)
        sums[i] = 0;
    __syncthreads();

    const size_t tile = (size_t)blockIdx.x * TILE;
#pragma unroll 1
    for (int i = 0; i < TILE; i += 16 * THREADS) {
        unsigned zone[16], bright[16];
#ifdef WIDE
        const uint4 z = *(const uint4*)(zones + tile + i + 16 * threadIdx.x);
        const uint4 b = *(const uint4*)(brightness + tile + i + 16 * threadIdx.x);
        const unsigned zs[4] = {z.x, z.y, z.z, z.w}, bs[4] = {b.x, b.y, b.z, b.w};
#pragma unroll
        for (int k = 0; k < 16; ++k) {
            zone[k] = zs[k / 4] >> k % 4 * 8 & 255u;
            bright[k] = bs[k / 4] >> k % 4 * 8 & 255u;
        }
#else
#pragma unroll
        for (int k = 0; k < 16; ++k) {
            zone[k] = zones[tile + i + k * THREADS + threadIdx.x];
            bright[k] = brightness[tile + i + k * THREADS + threadIdx.x];
        }
#endif
#pragma unroll
        for (int k = 0; k < 16; ++k)
            atomicAdd(sums + zone[k] * COPIES + threadIdx.x % COPIES, bright[k]);
    }
    __syncthreads();

    if (threadIdx.x < ZONES) {
        unsigned total = 0;
        for (int copy = 0; copy < COPIES; ++copy)
            total += sums[threadIdx.x * COPIES + (copy + threadIdx.x) % COPIES];
        light[blockIdx.x * ZONES + threadIdx.x] = total;
    }
}
