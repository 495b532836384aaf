// Where the planets pull the Sun: for many instants of an interval the barycentre of eight planets, whose coordinates are Chebyshev
// series of fourteen terms.

constexpr int BODIES = 8, TERMS = 14;

struct Planets {
    float series[BODIES][3][TERMS], weight[BODIES];

    __device__ constexpr Planets() : series(), weight()
    {
        for (int b = 0; b < BODIES; ++b) {
            weight[b] = 1.0f / (2.0f + b * b);
            for (int axis = 0; axis < 3; ++axis)
                for (int k = 0; k < TERMS; ++k) {
                    const float size = 1.0f / ((k + 1.0f) * (k + 2.0f) * (1.0f + 0.37f * b + 0.11f * axis));
                    series[b][axis][k] = k == 0 ? 4.0f + b + 0.5f * axis : (k * 5 + b * 3 + axis) % 7 < 3 ? -size : size;
                }
        }
    }
};

__constant__ Planets planets;

// Launch: block 192 over the instants, which are scaled to -1 .. 1. Planes of x, y and z.
extern "C" __global__ void __launch_bounds__(192)
barycentre(const float* __restrict__ instant, float* __restrict__ place, int n)
{
    const int i = blockIdx.x * 192 + threadIdx.x;
    if (i >= n)
        return;
    const float t = instant[i];
    float basis[TERMS];
    basis[0] = 1.0f;
    basis[1] = t;
#pragma unroll
    for (int k = 2; k < TERMS; ++k)
        basis[k] = 2.0f * t * basis[k - 1] - basis[k - 2];

    float sum[3] = {};
#pragma unroll
    for (int b = 0; b < BODIES; ++b)
#pragma unroll
        for (int axis = 0; axis < 3; ++axis) {
            float at = planets.series[b][axis][0];
#pragma unroll
            for (int k = 1; k < TERMS; ++k)
                at = planets.series[b][axis][k] * basis[k] + at;
            sum[axis] = planets.weight[b] * at + sum[axis];
        }
#pragma unroll
    for (int axis = 0; axis < 3; ++axis)
        place[axis * n + i] = sum[axis];
}
