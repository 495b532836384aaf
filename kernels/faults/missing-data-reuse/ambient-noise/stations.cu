// Ambient seismic noise: how alike are the recordings of two groups of stations? Samples are analytic signals (complex numbers); for
// each pair with one station in either group the product of one with the other's conjugate is added up over the time.

constexpr int THREADS = 256;

__device__ __forceinline__ void add_product(float2& sum, float2 a, float2 b)
{
    sum.x = fmaf(a.y, b.y, fmaf(a.x, b.x, sum.x));
    sum.y = fmaf(-a.x, b.y, fmaf(a.y, b.x, sum.y));
}

__device__ __forceinline__ float2 over_warp(float2 v)
{
#pragma unroll
    for (int d = 16; d > 0; d >>= 1) {
        v.x += __shfl_down_sync(0xffffffffu, v.x, d);
        v.y += __shfl_down_sync(0xffffffffu, v.y, d);
    }
    return v;
}

// Launch: grid (stations / SIDE, stations / SIDE), block 256; a block makes SIDE x SIDE pairs.
extern "C" __global__ void __launch_bounds__(THREADS)
cross(const float2* __restrict__ north, const float2* __restrict__ south, float2* __restrict__ coherence, int stations, int samples)
{
    __shared__ float2 parts[SIDE * SIDE][THREADS / 32];
    const float2* a = north + (size_t)blockIdx.y * SIDE * samples;
    const float2* b = south + (size_t)blockIdx.x * SIDE * samples;
    float2 sum[SIDE][SIDE] = {};
#pragma unroll (SIDE == 1 ? 8 : 2)
    for (int t = threadIdx.x; t < samples; t += THREADS) {
        float2 va[SIDE], vb[SIDE];
#pragma unroll
        for (int i = 0; i < SIDE; ++i) {
            va[i] = a[i * samples + t];
            vb[i] = b[i * samples + t];
        }
#pragma unroll
        for (int i = 0; i < SIDE; ++i)
#pragma unroll
            for (int j = 0; j < SIDE; ++j)
                add_product(sum[i][j], va[i], vb[j]);
    }
#pragma unroll
    for (int i = 0; i < SIDE; ++i)
#pragma unroll
        for (int j = 0; j < SIDE; ++j) {
            const float2 v = over_warp(sum[i][j]);
            if (threadIdx.x % 32 == 0)
                parts[i * SIDE + j][threadIdx.x / 32] = v;
        }
    __syncthreads();
    if (threadIdx.x < SIDE * SIDE) {
        float2 v = parts[threadIdx.x][0];
        for (int w = 1; w < THREADS / 32; ++w) {
            v.x += parts[threadIdx.x][w].x;
            v.y += parts[threadIdx.x][w].y;
        }
        const int i = blockIdx.y * SIDE + threadIdx.x / SIDE, j = blockIdx.x * SIDE + threadIdx.x % SIDE;
        coherence[i * stations + j] = v;
    }
}
