// Melt of a glacier by degree-days. Rows of cells go up the glacier from its tongue; the lower a row lies, the longer is its season.
// Each day's warmth takes snow first, and what is left of it takes ice.

#ifdef PLAIN_LITERALS
using Factor = double;
#else
using Factor = float;
#endif
constexpr Factor PEAK = 9.5, ONE = 1.0;              // warmth of midsummer above that of the season's ends
constexpr Factor SNOW = 0.0035, PER_SNOW = 1 / 0.0035; // metres of water a degree and day
constexpr Factor ICE = 0.0062, FROZEN_AGAIN = 0.15;

struct Cell {
    float snow, ice;
};

// `phase` goes from -1 to 1 over the season.
__device__ __forceinline__ void day(Cell& cell, float warmth, float phase)
{
    const float degrees = warmth + PEAK * (ONE - phase * phase);
    const float energy = fmaxf(degrees, 0.0f);
    const float taken = fminf(cell.snow, SNOW * energy);
    const float left = energy - taken * PER_SNOW;
    cell.snow = cell.snow - taken + FROZEN_AGAIN * taken;
    cell.ice = cell.ice + ICE * fmaxf(left, 0.0f);
}

// Days of a row's season: from 250 at the tongue to 80 on top.
__device__ int season(int row, int rows)
{
    return 250 - 170 * row / rows;
}

// Launch: any grid, block 1024: a thread for each column of cells (up to 1024).
extern "C" __global__ void __launch_bounds__(1024)
melt(const float* __restrict__ winter_snow, const float* __restrict__ warmth, float* __restrict__ runoff, int rows, int columns)
{
    const int column = threadIdx.x;
    if (column >= columns)
        return;
    const int share = (rows + gridDim.x - 1) / gridDim.x;
    for (int k = 0; k < share; ++k) {
#ifdef NEIGHBOURS
        const int row = blockIdx.x * share + k;
#else
        const int row = k * gridDim.x + blockIdx.x;
#endif
        if (row >= rows)
            break;
        const size_t i = (size_t)row * columns + column;
        const int days = season(row, rows);
        const float pace = 2.0f / days, offset = warmth[i];
        Cell cell{winter_snow[i], 0.0f};
        float phase = -1.0f;
#pragma unroll 2
        for (int d = 0; d < days; ++d) {
            day(cell, offset, phase);
            phase += pace;
        }
        runoff[i] = winter_snow[i] - cell.snow + cell.ice;
    }
}
