// Power of wind turbines from the wind at their hubs: nothing below the cut-in speed and above the cut-out speed, between
// them straight lines through the supports of a curve.

__constant__ float SUPPORTS[11] = {0.f,   0.02f, 0.07f, 0.16f, 0.31f, 0.5f,
                                   0.69f, 0.84f, 0.94f, 0.99f, 1.f};

constexpr float CUT_IN = 3.f, RATED = 13.f, CUT_OUT = 25.f;  // m/s

__device__ float share_of(float wind)
{
    if (wind < CUT_IN || wind > CUT_OUT)
        return 0.f;
    if (wind >= RATED)
        return 1.f;
    const float at = wind - CUT_IN;
    const int below = min(static_cast<int>(at), 9);
    const float rest = at - below;
    return SUPPORTS[below] + rest * (SUPPORTS[below + 1] - SUPPORTS[below]);
}

// Launch: 1D grid and 1D block, a thread per turbine.
extern "C" __global__ void power_of(const float* __restrict__ wind, float* __restrict__ power, int turbines, int hours)
{
    const int turbine = blockIdx.x * blockDim.x + threadIdx.x;
    if (turbine >= turbines)
        return;
    for (int hour = 0; hour < hours; ++hour) {
        const int i = hour * turbines + turbine;
        power[i] = share_of(wind[i]);
    }
}
