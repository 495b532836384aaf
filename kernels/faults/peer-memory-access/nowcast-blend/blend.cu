// A blend of two rain fields, four cells a thread.

__device__ float blended(float radar, float distance, float forecast)
{
    // All radar within 20 km of an echo, all forecast from 120 km on.
    const float share = fminf(fmaxf((distance - 20.0f) * 0.01f, 0.0f), 1.0f);
    return radar + share * (forecast - radar);
}

extern "C" __global__ void __launch_bounds__(256)
blend(const float4* __restrict__ radar, const float4* __restrict__ distance, const float4* __restrict__ forecast,
      float4* __restrict__ rain)
{
    const unsigned i = blockIdx.x * 256 + threadIdx.x;
    const float4 r = radar[i], d = distance[i], f = forecast[i];
    rain[i] = make_float4(blended(r.x, d.x, f.x), blended(r.y, d.y, f.y), blended(r.z, d.z, f.z),
                          blended(r.w, d.w, f.w));
}
