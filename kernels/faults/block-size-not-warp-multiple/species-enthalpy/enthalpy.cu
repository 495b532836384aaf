// Heat taken up by the nine species of a hydrogen flame while each cell of a mesh runs through its own history of temperature.
// threadIdx.x is the species, threadIdx.y the cell within the block.

constexpr int SPECIES = 9;

struct Fit {
    float a[6];
};

// cp / R and its running integral by a fit in t = T / 1000, high or low range.
__device__ __forceinline__ float heat_capacity(const Fit& f, float t)
{
    return fmaf(t, fmaf(t, fmaf(t, fmaf(t, f.a[4], f.a[3]), f.a[2]), f.a[1]), f.a[0]);
}

// Launch: blocks of SPECIES x (any number of cells).
extern "C" __global__ void
take_up(const float* __restrict__ fits, const float* __restrict__ start, const float* __restrict__ rate,
        float* __restrict__ heat, int cells, int steps)
{
    const int species = threadIdx.x;
    const int cell = blockIdx.x * blockDim.y + threadIdx.y;
    if (cell >= cells)
        return;

    Fit fit;
#pragma unroll
    for (int k = 0; k < 6; ++k)
        fit.a[k] = fits[k * SPECIES + species];

    const float t0 = start[cell];
    const float r = rate[cell];
    float t = t0;
    float before = heat_capacity(fit, t);
    float sum = 0.0f;
    for (int n = 0; n < steps; ++n) {
        const float next = fmaf(r, 2.4f - t, t);  // relaxes to the flame's temperature
        const float cp = heat_capacity(fit, next);
        sum = fmaf(0.5f * (cp + before), next - t, sum);
        before = cp;
        t = next;
    }
    heat[cell * SPECIES + species] = sum + fit.a[5];
}
