// Heating by the sun on a globe: for each column of the grid the sun's height is found, and where it stands above the horizon
// its light is followed through absorbing bands. Meridians lie one after another. A fixed number of blocks deals with all.

constexpr int BANDS = 448;

struct Sun {
    float sine, cosine;  // of its declination
};

// What remains of the light of all bands below a column of so much water, the sun at height mu.
__device__ float absorbed(float mu, float water)
{
    const float path = __fdividef(water, mu);
    float strength = 0.002f, light = 0.0f, weight = 1.0f;
#pragma unroll 8
    for (int band = 0; band < BANDS; ++band) {
        const float left = fmaf(strength * path, fmaf(strength, 0.25f * path, -0.5f), 1.0f);
        light = fmaf(weight, __saturatef(left), light);
        weight *= 0.9975f;
        strength = fmaf(strength, 1.004f, 1e-5f);
    }
    return mu * (float)BANDS - mu * light;
}

// Launch: as many blocks of 1024 as there are multiprocessors.
extern "C" __global__ void __launch_bounds__(1024)
heat(const float* __restrict__ water, float* __restrict__ heating, int meridians, int parallels, float declination)
{
    const Sun sun{__sinf(declination), __cosf(declination)};
    const int columns = meridians * parallels;
#ifdef RANGES
    const int part = (columns + gridDim.x - 1) / gridDim.x;
    const int first = blockIdx.x * part + threadIdx.x, end = min((int)(blockIdx.x + 1) * part, columns), stride = blockDim.x;
#else
    const int first = blockIdx.x * blockDim.x + threadIdx.x, end = columns, stride = gridDim.x * blockDim.x;
#endif
    for (int c = first; c < end; c += stride) {
        const int meridian = c / parallels, parallel = c - meridian * parallels;
        const float hour = 6.2831853f * (meridian + 0.5f) / meridians - 3.1415927f;
        const float latitude = 3.1415927f * (parallel + 0.5f) / parallels - 1.5707963f;
        const float mu = fmaf(__cosf(latitude) * sun.cosine, __cosf(hour), __sinf(latitude) * sun.sine);
        float h = 0.0f;
        if (mu > 0.01f)
            h = absorbed(mu, water[c]);
        heating[c] = h;
    }
}
