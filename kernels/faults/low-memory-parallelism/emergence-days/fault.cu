// Seeds come up when the warmth of the days since sowing, above a base temperature, has reached a sum. For each cell of a map:
// the day of it, and the warmth so far. Temperatures lie day by day, as maps.

// Launch: grid ceil(cells / 256), block 256.
extern "C" __global__ void __launch_bounds__(256)
emergence(const float* __restrict__ temperature, int* __restrict__ day, float* __restrict__ warmth,
          int cells, int days, float base, float need)
{
    const int cell = blockIdx.x * 256 + threadIdx.x;
    if (cell >= cells)
        return;

    const float* at = temperature + cell;
    float sum = 0.0f;
    int d = 0;
    for (; d < days; ++d) {
        sum += fmaxf(*at - base, 0.0f);
        if (sum >= need)
            break;
        at += cells;
    }
    day[cell] = d < days ? d : -1;
    warmth[cell] = sum;
}
