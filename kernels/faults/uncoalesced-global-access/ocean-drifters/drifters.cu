// Drifters that sink or rise in the sea: `release` sets them afloat, `settle` moves each up or down by its excess density, and
// reports where it is after the last step.

#ifdef RECORDS
struct Drifter {
    float lon, lat, depth, temperature, salinity, age, heading, excess;
};
#define FIELD(name, i) reinterpret_cast<Drifter*>(state)[i].name
#else
enum Column { lon, lat, depth, temperature, salinity, age, heading, excess };
#define FIELD(name, i) state[(size_t)name * n + (i)]
#endif

__device__ float density(float temperature, float salinity)
{
    const float t = temperature - 4.0f;
    return 1000.0f + 0.78f * salinity - 0.0065f * t * t;
}

// Launch: grid over the drifters, block 192.
extern "C" __global__ void __launch_bounds__(192)
release(const float* __restrict__ start_lon, const float* __restrict__ warmth, const float* __restrict__ salt,
        float* state, int n)
{
    const int i = blockIdx.x * 192 + threadIdx.x;
    if (i >= n)
        return;
    const float x = start_lon[i], t = warmth[i], s = salt[i];
    FIELD(lon, i) = x;
    FIELD(lat, i) = 0.25f * x - 20.0f;
    FIELD(depth, i) = 5.0f;
    FIELD(temperature, i) = t;
    FIELD(salinity, i) = s;
    FIELD(age, i) = 0.0f;
    FIELD(heading, i) = x - t;
    FIELD(excess, i) = 1026.0f - density(t, s);
}

// Launch: grid over the drifters, block 192; step `now` of `steps`.
extern "C" __global__ void __launch_bounds__(192)
settle(float* state, float* __restrict__ reached, int n, float seconds, int now, int steps)
{
    const int i = blockIdx.x * 192 + threadIdx.x;
    if (i >= n)
        return;
    const float below = FIELD(depth, i);
    const float sinking = 0.002f * (FIELD(excess, i) - 0.0045f * below + 0.01f * FIELD(salinity, i));
    const float next = fmaxf(0.0f, fmaf(seconds, sinking, below));
    FIELD(depth, i) = next;
    if (now + 1 == steps)
        reached[i] = next;
}
