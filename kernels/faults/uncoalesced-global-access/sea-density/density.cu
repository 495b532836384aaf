// Density of sea water from temperature, salinity and depth, on a grid of levels, latitudes and longitudes (longitudes follow each
// other in memory). The equation of state is a short polynomial for quick looks at model output.

struct Cell {
    int level, latitude, longitude;
};

#ifdef COLUMNS
__device__ __forceinline__ Cell own_cell()
{
    return {(int)(blockIdx.z * 32 + threadIdx.x), (int)blockIdx.y, (int)(blockIdx.x * 8 + threadIdx.y)};
}
#else
__device__ __forceinline__ Cell own_cell()
{
    return {(int)(blockIdx.z * 8 + threadIdx.y), (int)blockIdx.y, (int)(blockIdx.x * 32 + threadIdx.x)};
}
#endif

__device__ float sea_water(float t, float s, float depth)
{
    const float surface = fmaf(fmaf(fmaf(6.5e-5f, t, -8.4e-3f), t, 6.4e-2f), t, 999.85f);
    const float salt = s * fmaf(fmaf(5.4e-5f, t, -4.0e-3f), t, 0.8249f);
    const float stiffness = fmaf(fmaf(-2.0e-2f, t, 4.6e-1f), t, 4.4e-1f * s);
    return fmaf(depth, fmaf(-1.3e-5f, stiffness, 4.7e-3f), surface + salt);
}

// Launch: block (32, 8); the grid covers longitudes by x, latitudes by y, levels by z.
extern "C" __global__ void __launch_bounds__(256)
density(const float* __restrict__ temperature, const float* __restrict__ salinity, const float* __restrict__ depths,
        float* __restrict__ result, int levels, int latitudes, int longitudes)
{
    const Cell cell = own_cell();
    if (cell.level >= levels || cell.longitude >= longitudes)
        return;
    const size_t at = ((size_t)cell.level * latitudes + cell.latitude) * longitudes + cell.longitude;
    result[at] = sea_water(temperature[at], salinity[at], depths[cell.level]);
}
