// Tide gauges: the sum of each gauge's readings. A thread takes four readings and adds each to its gauge's sum.

// Launch: grid (gauges / 256), block 256.
extern "C" __global__ void clear(unsigned* __restrict__ sums)
{
    sums[blockIdx.x * 256 + threadIdx.x] = 0;
}

__device__ void add(unsigned* sum, unsigned value)
{
    atomicAdd(sum, value);
}

// Launch: grid (readings / 1024), block 256.
extern "C" __global__ void add_up(
    const uint4* __restrict__ gauges, const uint4* __restrict__ heights, unsigned* sums, unsigned mask)
{
    const unsigned i = blockIdx.x * 256 + threadIdx.x;
    const uint4 gauge = gauges[i], height = heights[i];
    add(sums + (gauge.x & mask), height.x);
    add(sums + (gauge.y & mask), height.y);
    add(sums + (gauge.z & mask), height.z);
    add(sums + (gauge.w & mask), height.w);
}
