// Products of 64 x K and K x 64 matrices of half precision, many of them: correlations of two sets of 64 signals.
// The products are formed by ordinary fused multiply-adds.

constexpr int STEP = 64;      // of K, in shared memory at a time
constexpr int PITCH = 36;     // words from row to row there: 8 rows by 4 words touch all banks
constexpr int ROW = STEP / 2;  // words of a row

__device__ float2 floats(unsigned halves)
{
    float2 values;
    asm("{.reg .b16 l, h; mov.b32 {l, h}, %2; cvt.f32.f16 %0, l; cvt.f32.f16 %1, h;}"
        : "=f"(values.x), "=f"(values.y) : "r"(halves));
    return values;
}

// Launch: grid pairs of sets, block 128. left[pair][64][K / 2], right[pair][64][K / 2], products[pair][64][64].
extern "C" __global__ void __launch_bounds__(128)
correlate(const unsigned* __restrict__ left, const unsigned* __restrict__ right, float* __restrict__ products, int K)
{
    __shared__ __align__(16) unsigned a[64 * PITCH], b[64 * PITCH];
    const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const unsigned g = lane / 4, t = lane % 4;
    const unsigned row = warp / 2 * 32 + g, column = warp % 2 * 32;  // of the warp's 32 x 32 results
    const size_t set = (size_t)blockIdx.x * 64 * (K / 2);

    // sums[m][n][c]: row + 8 m, column + 8 n + 2 t + c
    float sums[4][4][2] = {};
    for (int k0 = 0; k0 < K / 2; k0 += ROW) {
#pragma unroll
        for (int k = 0; k < 4; ++k) {
            const unsigned r = k * 16 + threadIdx.x / 8, word = threadIdx.x % 8 * 4;
            const size_t from = set + (size_t)r * (K / 2) + k0 + word;
            *(uint4*)(a + r * PITCH + word) = *(const uint4*)(left + from);
            *(uint4*)(b + r * PITCH + word) = *(const uint4*)(right + from);
        }
        __syncthreads();
#pragma unroll 2
        for (int k = 0; k < ROW; ++k) {
            float2 x[4], y[8];
#pragma unroll
            for (int m = 0; m < 4; ++m)
                x[m] = floats(a[(row + 8 * m) * PITCH + k]);
#pragma unroll
            for (int n = 0; n < 8; ++n)
                y[n] = floats(b[(column + n / 2 * 8 + 2 * t + n % 2) * PITCH + k]);
#pragma unroll
            for (int m = 0; m < 4; ++m)
#pragma unroll
                for (int n = 0; n < 8; ++n)
                    sums[m][n / 2][n % 2] += x[m].x * y[n].x + x[m].y * y[n].y;
        }
        __syncthreads();
    }
#pragma unroll
    for (int m = 0; m < 4; ++m)
#pragma unroll
        for (int n = 0; n < 4; ++n)
            *(float2*)(products + (size_t)blockIdx.x * 4096 + (row + 8 * m) * 64 + column + 8 * n + 2 * t) =
                make_float2(sums[m][n][0], sums[m][n][1]);
}
