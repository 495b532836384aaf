// Where a satellite sees the top of the clouds: down each column of a weather model extinction adds up to an optical depth,
// and the level where it passes a limit is reported with the depth that it had there. Columns lie beside each other, levels
// one after another.

#ifndef AHEAD
#define AHEAD 1
#endif

// Launch: grid over the columns, block 256. `levels` is a multiple of eight.
extern "C" __global__ void __launch_bounds__(256)
cloud_top(const float* __restrict__ extinction, int* __restrict__ top, float* __restrict__ depth, int columns, int levels,
          float limit)
{
    const int column = blockIdx.x * 256 + threadIdx.x;
    if (column >= columns)
        return;
    const float* at = extinction + column;
    float sum = 0.0f;
    int level = 0;
#if AHEAD == 1
    while (level < levels) {
        sum += *at;
        if (sum > limit)
            break;
        at += columns;
        ++level;
    }
#else
    bool seen = false;
    while (level < levels && !seen) {
        float part[AHEAD];
#pragma unroll
        for (int k = 0; k < AHEAD; ++k)
            part[k] = at[(size_t)k * columns];
#pragma unroll
        for (int k = 0; k < AHEAD; ++k)
            if (!seen) {
                sum += part[k];
                seen = sum > limit;
                level += !seen;
            }
        at += (size_t)AHEAD * columns;
    }
#endif
    top[column] = level;
    depth[column] = sum;
}
