// Air parcels in an unstructured mesh: each goes from cell to cell through the face its direction points at. A parcel carries an
// ensemble of 32 tracers, which lose weight on the way. In runs with chemistry the species on board react in each tenth cell, an
// implicit step with a dense matrix.

#ifdef WITHOUT_CHEMISTRY
constexpr bool CHEMISTRY_BUILT = false;
#else
constexpr bool CHEMISTRY_BUILT = true;
#endif

constexpr int SPECIES = 16;

// One implicit step: solves (1 + dt J^T J) x = c by Cholesky's factors, all of it unrolled.
static __device__ __forceinline__ float react(float c0, float heat, float dt)
{
    float l[SPECIES][SPECIES], x[SPECIES];
#pragma unroll
    for (int i = 0; i < SPECIES; ++i) {
        x[i] = fmaf(c0, 0.125f * (i + 1), heat);
#pragma unroll
        for (int j = 0; j <= i; ++j)
            l[i][j] = (i == j ? 2.0f + heat * i : 0.0f) + dt * __sinf(heat * (i + 3) + c0 * (j + 1));
    }
#pragma unroll
    for (int j = 0; j < SPECIES; ++j) {
        const float inverse = rsqrtf(fmaxf(l[j][j], 1e-3f));
#pragma unroll
        for (int i = j; i < SPECIES; ++i)
            l[i][j] *= inverse;
#pragma unroll
        for (int i = j + 1; i < SPECIES; ++i)
#pragma unroll
            for (int k = j + 1; k <= i; ++k)
                l[i][k] = fmaf(-l[i][j], l[k][j], l[i][k]);
    }
#pragma unroll
    for (int i = 0; i < SPECIES; ++i) {
#pragma unroll
        for (int j = 0; j < i; ++j)
            x[i] = fmaf(-l[i][j], x[j], x[i]);
        x[i] = __fdividef(x[i], l[i][i]);
    }
#pragma unroll
    for (int i = SPECIES - 1; i >= 0; --i) {
#pragma unroll
        for (int j = i + 1; j < SPECIES; ++j)
            x[i] = fmaf(-l[j][i], x[j], x[i]);
        x[i] = __fdividef(x[i], l[i][i]);
    }
    float sum = 0.0f;
#pragma unroll
    for (int i = 0; i < SPECIES; ++i)
        sum += x[i];
    return sum;
}

// The direction after a cell: it drifts with the cell's flow and is kept at length one.
static __device__ __forceinline__ float2 turn(float2 d, float flow)
{
    const float x = fmaf(flow, d.y, d.x), y = fmaf(-flow, d.x, d.y);
    const float inverse = rsqrtf(fmaf(x, x, y * y));
    return make_float2(__fmul_rn(x, inverse), __fmul_rn(y, inverse));
}

// Launch: a warp a parcel, a lane a member, block 192. `neighbours` has the four cells behind a cell's faces; cells is a power of two.
extern "C" __global__ void advect(const uint4* __restrict__ neighbours, unsigned cells, const unsigned* __restrict__ start,
                                  float* __restrict__ weight, int members, int hops, int chemistry, float dt)
{
    const int p = blockIdx.x * blockDim.x + threadIdx.x;
    if (p >= members)
        return;
    const unsigned origin = start[p / 32];
    unsigned cell = origin & (cells - 1);
    const float angle = (origin >> 16) * 9.5873799e-5f;
    float2 d = make_float2(__cosf(angle), __sinf(angle));
    float w = 1.0f, heat = 0.3f + 0.01f * (p % 32);
#pragma unroll 1
    for (int h = 0; h < hops; ++h) {
        const uint4 faces = neighbours[cell];
        const float flow = fmaf((float)(faces.x >> 20), 2.4e-4f, -0.5f);
        d = turn(d, flow);
        d = turn(d, 0.5f * (d.x - flow));
        const bool vertical = fabsf(d.y) > fabsf(d.x);
        const unsigned next = vertical ? (d.y > 0.0f ? faces.x : faces.y) : (d.x > 0.0f ? faces.z : faces.w);
        w = fmaf(-1e-3f * w, heat * fabsf(d.x * flow), w);
        heat = fmaf(0.1f, d.y - heat, heat);
        if (CHEMISTRY_BUILT && chemistry && h % 10 == 9)
            w = react(w, heat, dt);
        cell = next & (cells - 1);
    }
    weight[p] = w + heat;
}
