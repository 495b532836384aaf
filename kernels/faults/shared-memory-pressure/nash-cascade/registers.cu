// Floods from rain by Nash's cascade: the water of a catchment runs through sixteen equal reservoirs in a row, each of which
// releases a share of what it holds every hour. One catchment a thread.

constexpr int RESERVOIRS = 16, WIDTH = 192;

// Launch: grid catchments / 192, block 192.
extern "C" __global__ void __launch_bounds__(WIDTH)
route(const float* __restrict__ rain, const float* __restrict__ share, float* __restrict__ peak,
      float* __restrict__ volume, int catchments, int hours)
{
    float level[RESERVOIRS];
    const int c = blockIdx.x * WIDTH + threadIdx.x;
    if (c >= catchments)
        return;
#pragma unroll
    for (int k = 0; k < RESERVOIRS; ++k)
        level[k] = 0.0f;

    const float released = share[c];
    float highest = 0.0f, total = 0.0f, next = rain[c];
#pragma unroll 1
    for (int hour = 0; hour < hours; ++hour) {
        float flow = next;
        if (hour + 1 < hours)
            next = rain[(size_t)(hour + 1) * catchments + c];
#pragma unroll
        for (int k = 0; k < RESERVOIRS; ++k) {
            const float held = level[k] + flow;
            flow = released * held;
            level[k] = held - flow;
        }
        highest = fmaxf(highest, flow);
        total += flow;
    }
    peak[c] = highest;
    volume[c] = total;
}
