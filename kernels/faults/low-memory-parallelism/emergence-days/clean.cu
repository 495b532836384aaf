// Seeds come up when the warmth of the days since sowing, above a base temperature, has reached a sum. For each cell of a map:
// the day of it, and the warmth so far. Temperatures lie day by day, as maps.

constexpr int AHEAD = 8;  // days read at a time; a divisor of the season's

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
    int found = -1;
#pragma unroll 1
    for (int first = 0; first < days && found < 0; first += AHEAD) {
        float t[AHEAD];
#pragma unroll
        for (int j = 0; j < AHEAD; ++j)
            t[j] = at[(size_t)j * cells];
        float reached = 0.0f;
#pragma unroll
        for (int j = 0; j < AHEAD; ++j) {
            sum += fmaxf(t[j] - base, 0.0f);
            const bool now = sum >= need && found < 0;
            found = now ? first + j : found;
            reached = now ? sum : reached;
        }
        sum = found < 0 ? sum : reached;
        at += (size_t)AHEAD * cells;
    }
    day[cell] = found;
    warmth[cell] = sum;
}
