// Floods from rain by Nash's cascade: the water of a catchment runs through equal reservoirs in a row, each of which
// releases a share of what it holds every hour. One catchment a thread; the levels are in shared memory.

constexpr int WIDTH = 192;

// Launch: grid catchments / 192, block 192, shared memory for 192 floats a reservoir.
extern "C" __global__ void __launch_bounds__(WIDTH)
route(const float* __restrict__ rain, const float* __restrict__ share, float* __restrict__ peak,
      float* __restrict__ volume, int catchments, int hours, int reservoirs)
{
    extern __shared__ float level[][WIDTH];
    const int own = threadIdx.x;
    const int c = blockIdx.x * WIDTH + own;
    if (c >= catchments)
        return;
    for (int k = 0; k < reservoirs; ++k)
        level[k][own] = 0.0f;

    const float released = share[c];
    float highest = 0.0f, total = 0.0f, next = rain[c];
    for (int hour = 0; hour < hours; ++hour) {
        float flow = next;
        if (hour + 1 < hours)
            next = rain[(size_t)(hour + 1) * catchments + c];
#pragma unroll 8
        for (int k = 0; k < reservoirs; ++k) {
            const float held = level[k][own] + flow;
            flow = released * held;
            level[k][own] = held - flow;
        }
        highest = fmaxf(highest, flow);
        total += flow;
    }
    peak[c] = highest;
    volume[c] = total;
}
