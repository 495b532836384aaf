// Fitness of evolved formulas: 48 candidates of a genetic program, each compiled to its own straight code of 256 operations on four
// registers, judged at many sample points. A warp judges 32 neighbouring points by one candidate.

static __host__ __device__ constexpr unsigned gene(unsigned candidate, unsigned place)
{
    unsigned h = candidate * 0x9e3779b1u + place * 0x85ebca6bu + 0x27d4eb2fu;
    h = (h ^ (h >> 15)) * 0x2c1b3c6du;
    h = (h ^ (h >> 12)) * 0x297a2d39u;
    return h ^ (h >> 15);
}

template <unsigned C, unsigned P>
static __device__ __forceinline__ void operate(float (&r)[4])
{
    constexpr unsigned g = gene(C, P), to = P & 3u, a = (to + 1 + g % 3u) & 3u, b = (g >> 4) & 3u, kind = (g >> 8) & 3u;
    constexpr float k = (float)((g >> 12) & 255u) * (1.0f / 512.0f) + 0.25f;
    if constexpr (kind == 0)
        r[to] = __fmaf_rn(r[a], k, -0.25f * r[to]);
    else if constexpr (kind == 1)
        r[to] = fminf(r[a], k) - 0.5f * r[to];
    else if constexpr (kind == 2)
        r[to] = __fmaf_rn(fabsf(r[a]), -k, r[to] * k);
    else
        r[to] = fmaxf(__fmaf_rn(r[b], 0.5f, -k), r[to] * -0.75f);
}

template <unsigned C, unsigned P, unsigned LENGTH>
static __device__ __forceinline__ void express(float (&r)[4])
{
    if constexpr (LENGTH == 1) {
        operate<C, P>(r);
    } else {
        express<C, P, LENGTH / 2>(r);
        express<C, P + LENGTH / 2, LENGTH - LENGTH / 2>(r);
    }
}

template <unsigned C>
static __device__ __noinline__ float judge(float x, float y)
{
    float r[4] = {x, y, x - y, 0.5f};
    express<C, 0, 256>(r);
    return (r[0] + r[1]) + (r[2] + r[3]);
}

// Launch: points / 32 * 48 warps in blocks of 256. IN_TURN: neighbouring warps take the same points by different candidates.
extern "C" __global__ void __launch_bounds__(256)
fitness(const float* __restrict__ xs, const float* __restrict__ ys, float* __restrict__ values, int points)
{
    const int warp = blockIdx.x * 8 + (threadIdx.x >> 5);
#ifdef IN_TURN
    const int candidate = warp % 48, batch = warp / 48;
#else
    const int batches = points / 32, candidate = warp / batches, batch = warp - candidate * batches;
#endif
    const int point = batch * 32 + (threadIdx.x & 31);
    if (candidate >= 48 || point >= points)
        return;
    const float x = xs[point], y = ys[point];
    float value = 0.0f;
    switch (candidate) {
#define ONE(C) case C: value = judge<C>(x, y); break;
#define FOUR(C) ONE(C) ONE(C + 1) ONE(C + 2) ONE(C + 3)
#define TWELVE(C) FOUR(C) FOUR(C + 4) FOUR(C + 8)
        TWELVE(0) TWELVE(12) TWELVE(24) TWELVE(36)
    }
    values[(size_t)candidate * points + point] = value;
}
