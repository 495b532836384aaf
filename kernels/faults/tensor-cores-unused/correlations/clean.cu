// Products of 64 x K and K x 64 matrices of half precision, many of them: correlations of two sets of 64 signals.
// The products are formed by tensor cores.

constexpr int STEP = 64;      // of K, in shared memory at a time
constexpr int PITCH = 36;     // words from row to row there: 8 rows by 4 words touch all banks
constexpr int ROW = STEP / 2;  // words of a row

// 16 x 8 results, of 16 x 8 and 8 x 8 factors.
__device__ void multiply(float (&top)[2], float (&bottom)[2], unsigned x0, unsigned x1, unsigned y)
{
    asm("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
        : "+f"(top[0]), "+f"(top[1]), "+f"(bottom[0]), "+f"(bottom[1]) : "r"(x0), "r"(x1), "r"(y));
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
        for (int k = t; k < ROW; k += 4) {
            unsigned x[4], y[4];
#pragma unroll
            for (int m = 0; m < 4; ++m)
                x[m] = a[(row + 8 * m) * PITCH + k];
#pragma unroll
            for (int n = 0; n < 4; ++n)
                y[n] = b[(column + 8 * n + g) * PITCH + k];
#pragma unroll
            for (int m = 0; m < 4; m += 2)
#pragma unroll
                for (int n = 0; n < 4; ++n)
                    multiply(sums[m][n], sums[m + 1][n], x[m], x[m + 1], y[n]);
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
