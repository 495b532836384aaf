// Ozone on a latitude-longitude grid: oxygen atoms, ozone and a catalyst exchange in substeps. Towards the poles the cells become
// narrow, so a row takes more substeps there (at most eight times as many as at the equator).

constexpr float HALF_PI = 1.5707964f;

struct Column {
    float oxygen, ozone, catalyst;
};

// One substep of length `h`.
__device__ __forceinline__ void react(Column& c, float sun, float h)
{
    const float split = sun * c.ozone;
    const float join = fmaf(-0.8f, c.oxygen * c.ozone, 0.02f * c.oxygen);
    const float eaten = c.catalyst * c.ozone;
    c.oxygen = fmaf(h, split - join, c.oxygen);
    c.ozone = fmaf(h, join - split - eaten, c.ozone);
    c.catalyst = fmaf(h, fmaf(-0.05f, c.catalyst, 0.01f * eaten), c.catalyst);
}

__device__ int substeps(int row, int rows, int equator)
{
    const float latitude = HALF_PI * fabsf((2 * row + 1) / (float)rows - 1.0f);
    return (int)(equator * fminf(8.0f, __fdividef(1.0f, __cosf(latitude))));
}

// Launch: any grid, block 1024; a block takes rows / blocks rows of the globe.
extern "C" __global__ void __launch_bounds__(1024)
ozone_day(const float* __restrict__ before, const float* __restrict__ sunlight, float* __restrict__ after, int rows,
          int longitudes, int equator)
{
    const int share = (rows + gridDim.x - 1) / gridDim.x;
    for (int k = 0; k < share; ++k) {
#ifdef BANDS
        const int row = blockIdx.x * share + k;
#else
        const int row = k * gridDim.x + blockIdx.x;
#endif
        if (row >= rows)
            break;
        const int steps = substeps(row, rows, equator);
        const float h = 0.5f / steps, sun = sunlight[row];
        for (int x = threadIdx.x; x < longitudes; x += 1024) {
            Column cell{0.1f, before[(size_t)row * longitudes + x], 0.3f};
#pragma unroll 4
            for (int s = 0; s < steps; ++s)
                react(cell, sun, h);
            after[(size_t)row * longitudes + x] = cell.ozone;
        }
    }
}
