// Tiles of inverse square roots with a flag for each. A barrier and then a fence by the thread that raises the flag order all stores
// of the block before it.

constexpr int TILES = 8;  // of 1024 values, a block

// Launch: grid tiles / 8, block 256. A flag tells other kernels that its tile is there.
extern "C" __global__ void __launch_bounds__(256)
produce(const float* __restrict__ values, float* __restrict__ roots, unsigned* __restrict__ flags)
{
#pragma unroll 1
    for (int n = 0; n < TILES; ++n) {
        const size_t tile = (size_t)blockIdx.x * TILES + n;
#pragma unroll
        for (int j = 0; j < 4; ++j)
            roots[tile * 1024 + 256 * j + threadIdx.x] = rsqrtf(values[tile * 1024 + 256 * j + threadIdx.x]);
        __syncthreads();
        if (threadIdx.x == 0) {
            __threadfence();
            *(volatile unsigned*)&flags[tile] = 1;
        }
    }
}
