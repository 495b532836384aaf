// The potential of line charges in the plane, on a fine grid of points: every charge adds the logarithm of its squared distance
// to every point. A thread takes four points of a column.

constexpr int ROWS = 4, AT_ONCE = 256;

__device__ __forceinline__ float log2of(float x)
{
    float y;
    asm("lg2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}

// Launch: grid (width / 64, height / 16), block (64, 4). Charges, a multiple of 256: place, strength, and a squared radius.
extern "C" __global__ void __launch_bounds__(256)
potential(const float4* __restrict__ charges, float* __restrict__ field, int count, int width, float spacing)
{
    __shared__ float4 own[AT_ONCE];
    const int rank = threadIdx.y * 64 + threadIdx.x;
    const int column = blockIdx.x * 64 + threadIdx.x;
    const int row = (blockIdx.y * 4 + threadIdx.y) * ROWS;
    const float x = column * spacing;
    float y[ROWS], sum[ROWS] = {};
#pragma unroll
    for (int r = 0; r < ROWS; ++r)
        y[r] = (row + r) * spacing;

    for (int first = 0; first < count; first += AT_ONCE) {
        own[rank] = charges[first + rank];
        __syncthreads();
#pragma unroll 8
        for (int k = 0; k < AT_ONCE; ++k) {
            const float4 charge = own[k];
            const float dx = x - charge.x;
            const float across = fmaf(dx, dx, charge.w);
#pragma unroll
            for (int r = 0; r < ROWS; ++r) {
                const float dy = y[r] - charge.y;
                sum[r] = fmaf(charge.z, log2of(fmaf(dy, dy, across)), sum[r]);
            }
        }
        __syncthreads();
    }
#pragma unroll
    for (int r = 0; r < ROWS; ++r)
        field[(size_t)(row + r) * width + column] = sum[r];
}
