// Pollen grains drift with the wind. There are slots for as many grains as a season may bring; the first `grains[0]` are taken.

extern "C" __global__ void drift(const int* __restrict__ grains, const float4* __restrict__ place,
                                 const float4* __restrict__ wind, float4* __restrict__ moved)
{
    const int grain = blockIdx.x * blockDim.x + threadIdx.x;
    if (grain >= grains[0])
        return;
    const float4 from = place[grain];
    const float4 blows = wind[grain & 255];
    const float falls = 1.0f / (1.0f + from.w * from.w);
    moved[grain] = make_float4(from.x + blows.x, from.y + blows.y, from.z + blows.z - falls, from.w * 0.999f);
}
