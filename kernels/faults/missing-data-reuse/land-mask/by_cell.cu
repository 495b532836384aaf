// Land: the field of each month where there is land, and nothing elsewhere. All months of some cells, then of the next.

// Launch: grid (months, cells / 1024), block 256.
extern "C" __global__ void mask(
    const float4* __restrict__ field, const float4* __restrict__ share, float4* __restrict__ land, unsigned cells)
{
    const size_t cell = blockIdx.y * 256u + threadIdx.x, i = (size_t)blockIdx.x * cells + cell;
    const float4 value = field[i], of_land = share[cell];
    land[i] = make_float4(value.x * of_land.x, value.y * of_land.y, value.z * of_land.z, value.w * of_land.w);
}
