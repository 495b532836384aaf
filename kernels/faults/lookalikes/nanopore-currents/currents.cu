// Currents through nanopores in picoamperes, from a digitiser's levels: each channel has its own offset, and all have the same range.
// A row of blocks takes a channel.

#ifndef PICOAMPERES
#define PICOAMPERES 0.17554
#endif

__device__ __forceinline__ float current(float level, float offset)
{
    return (level + offset) * PICOAMPERES;
}

// Launch: grid (samples / 2048, channels), block 256: two float4 a thread.
extern "C" __global__ void __launch_bounds__(256)
calibrate(const float4* __restrict__ levels, const float* __restrict__ offsets, float4* __restrict__ currents, int quads)
{
    const float offset = offsets[blockIdx.y];
    const size_t row = (size_t)blockIdx.y * quads;
    const int q = blockIdx.x * 512 + threadIdx.x;

    float4 v[2];
#pragma unroll
    for (int n = 0; n < 2; ++n)
        v[n] = q + 256 * n < quads ? levels[row + q + 256 * n] : make_float4(0, 0, 0, 0);
#pragma unroll
    for (int n = 0; n < 2; ++n)
        if (q + 256 * n < quads)
            currents[row + q + 256 * n] = make_float4(current(v[n].x, offset), current(v[n].y, offset),
                                                      current(v[n].z, offset), current(v[n].w, offset));
}
