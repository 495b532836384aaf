// Credit scorecard: a table of applicants with eight figures each is turned into a table of points, by a curve for each of the eight.
// The block stages 128 applicants in shared memory.

constexpr int ROWS = 128, COLUMNS = 8, PITCH = COLUMNS + 1;

__device__ __forceinline__ float income(float v)
{
    float root = 0.5f + 0.5f * v;
#pragma unroll
    for (int s = 0; s < 4; ++s)
        root -= __fdividef(root * root * root - v, 3.0f * root * root);
    return 100.0f + 40.0f * root;
}

__device__ __forceinline__ float age(float v)
{
    float points = 20.0f + 31.0f * v;
#pragma unroll
    for (int k = 0; k < 9; ++k) {
        const float above = fmaxf(v - 0.1f * (k + 1), 0.0f);
        points = fmaf((7.0f - k) * above * above, above, points);
    }
    return points;
}

__device__ __forceinline__ float utilisation(float v)
{
    const float logit = __logf(v) - __logf(1.0f - v);
    const float s = logit * 0.25f, s2 = s * s;
    float p = 0.0011f;
#pragma unroll
    for (int k = 0; k < 12; ++k)
        p = fmaf(p, s2, 0.01f * k - 0.07f);
    return fmaf(p, s, 60.0f);
}

__device__ __forceinline__ float enquiries(float v)
{
    float points = 80.0f;
#pragma unroll
    for (int k = 1; k <= 6; ++k)
        points = fmaf(9.0f - k, __expf(-1.7f * k * v), points);
    return points;
}

__device__ __forceinline__ float tenure(float v)
{
    float p = 0.3f;
#pragma unroll
    for (int k = 0; k < 24; ++k)
        p = fmaf(p, v, 1.0f / (k + 2.0f));
    return 50.0f + 12.0f * p * rsqrtf(p + v);
}

__device__ __forceinline__ float debt(float v)
{
    float points = 90.0f;
#pragma unroll
    for (int k = 0; k < 6; ++k) {
        const float s = __saturatef((v - 0.12f * k) * 3.0f);
        points = fmaf(s * s, (3.0f - 2.0f * s) * (k - 8.0f), points);
    }
    return points;
}

__device__ __forceinline__ float month(float v)
{
    float points = 70.0f;
#pragma unroll
    for (int k = 1; k <= 4; ++k)
        points += __sinf(6.2831853f * k * v) * (2.0f / k) + __cosf(6.2831853f * k * v) * (1.5f / k);
    return points;
}

__device__ __forceinline__ float arrears(float v)
{
    const float t = sqrtf(-2.0f * __logf(0.5f * v));
    float over = 0.010328f, under = 0.001308f;
#pragma unroll
    for (int k = 0; k < 8; ++k) {
        over = fmaf(over, t, 0.31f + 0.2f * k);
        under = fmaf(under, t, 0.27f + 0.15f * k);
    }
    return 110.0f + 5.0f * (t - __fdividef(over, under));
}

__device__ __forceinline__ float points(int column, float v)
{
    switch (column) {
    case 0: return income(v);
    case 1: return age(v);
    case 2: return utilisation(v);
    case 3: return enquiries(v);
    case 4: return tenure(v);
    case 5: return debt(v);
    case 6: return month(v);
    default: return arrears(v);
    }
}

// Launch: grid applicants / 128, block 256.
extern "C" __global__ void __launch_bounds__(256)
score(const float* __restrict__ figures, float* __restrict__ scores)
{
    __shared__ float tile[ROWS * PITCH];
    const size_t first = (size_t)blockIdx.x * ROWS * COLUMNS;
#pragma unroll
    for (int j = 0; j < ROWS * COLUMNS / 256; ++j) {
        const unsigned e = 256 * j + threadIdx.x;
        tile[e / COLUMNS * PITCH + e % COLUMNS] = figures[first + e];
    }
    __syncthreads();

#ifdef IN_ORDER
    const int column = threadIdx.x % COLUMNS, from = threadIdx.x / COLUMNS;
#else
    const int column = threadIdx.x / 32, from = threadIdx.x % 32;
#endif
#pragma unroll 1
    for (int row = from; row < ROWS; row += 32)
        tile[row * PITCH + column] = points(column, tile[row * PITCH + column]);
    __syncthreads();

#pragma unroll
    for (int j = 0; j < ROWS * COLUMNS / 256; ++j) {
        const unsigned e = 256 * j + threadIdx.x;
        scores[first + e] = tile[e / COLUMNS * PITCH + e % COLUMNS];
    }
}
