// Settling of sediment grains: 72 size classes for each water column, speed under weight, viscous and turbulent drag, step by step.

struct Water { float weight, stir; };

#ifdef SINGLE
#define C(x) x##f
#else
#define C(x) x
#endif

// Launch: any grid and block over the grains; diameters are given in tenths of a millimetre, class after class of each column.
extern "C" __global__ void settle(const float* __restrict__ diameters, float* __restrict__ depths, int grains, int steps)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= grains)
        return;
    const float d = diameters[i];
    const float viscous = __fdividef(18.0f, d * d), turbulent = __fdividef(0.33f, d);
    const Water water{6.04f, 0.02f * d};
    float speed = 0.0f, depth = 0.0f;
#pragma unroll 4
    for (int s = 0; s < steps; ++s) {
        const float drag = viscous * speed + turbulent * speed * speed;
        speed = speed + C(0.002) * (water.weight - drag);
        depth = depth + C(0.002) * speed + water.stir;
    }
    depths[i] = depth;
}
