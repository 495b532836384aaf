// Algae in a pond: nutrient taken up, stored in the cell and grown on (Droop's model), with grazing and inflow. A thread
// follows one pond through the season in explicit steps.

#ifdef LITERALS_AS_WRITTEN
#define C(x) x
#else
#define C(x) x##f
#endif

struct Pond {
    float nutrient, quota, algae;
};

__device__ __forceinline__ Pond advance(const Pond& p, float light)
{
    const float uptake = C(0.9) * p.nutrient * (C(1.0) - C(0.35) * p.quota);
    const float growth = C(1.2) * light * (p.quota - C(0.25));
    const float grazing = C(0.15) + C(0.04) * p.algae;
    Pond q;
    q.nutrient = p.nutrient + C(0.02) * (C(0.1) * (C(2.5) - p.nutrient) - uptake * p.algae);
    q.quota = p.quota + C(0.02) * (uptake - growth * p.quota);
    q.algae = p.algae + C(0.02) * p.algae * (growth - grazing);
    return q;
}

// Launch: grid over the ponds, block 192.
extern "C" __global__ void __launch_bounds__(192)
season(const float* __restrict__ light, const float* __restrict__ nutrient, float* __restrict__ peak,
       float* __restrict__ left, int ponds, int steps)
{
    const int i = blockIdx.x * 192 + threadIdx.x;
    if (i >= ponds)
        return;
    const float sun = light[i];
    Pond pond = {nutrient[i], 0.6f, 0.1f};
    float highest = 0.0f;
    for (int s = 0; s < steps; ++s) {
        pond = advance(pond, sun);
        highest = fmaxf(highest, pond.algae);
    }
    peak[i] = highest;
    left[i] = pond.nutrient;
}
