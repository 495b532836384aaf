// Heat on a graph of 64 nodes, spread by the same matrix step after step, for many starting states. Matrix and states
// stay in registers: a warp's 16 states times the matrix are 32 tensor instructions, and their sums are the next
// operands.

constexpr int NODES = 64;

__device__ void multiply(float (&sum)[4], const unsigned (&left)[4], const unsigned (&right)[2])
{
#if __CUDA_ARCH__ >= 800
    asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
        : "r"(left[0]), "r"(left[1]), "r"(left[2]), "r"(left[3]), "r"(right[0]), "r"(right[1]));
#else
#pragma unroll
    for (int k = 0; k < 2; ++k)
        asm("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
            : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
            : "r"(left[2 * k]), "r"(left[2 * k + 1]), "r"(right[k]));
#endif
}

__device__ unsigned narrow(float low, float high)
{
    unsigned both;
    asm("{ .reg .f16 l, h; cvt.rn.f16.f32 l, %1; cvt.rn.f16.f32 h, %2; mov.b32 %0, {l, h}; }"
        : "=r"(both) : "f"(low), "f"(high));
    return both;
}

// Launch: grid states / 64, block 128. states, later: rows of 64 halves; matrix[to][from].
extern "C" __global__ void __launch_bounds__(128, 3)
diffuse(const unsigned* __restrict__ states, const unsigned* __restrict__ matrix, unsigned* __restrict__ later, int steps)
{
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int g = lane / 4, m = lane % 4;  // as the instruction deals its operands to lanes
    const size_t upper = ((size_t)blockIdx.x * 64 + warp * 16 + g) * (NODES / 2), lower = upper + 8 * (NODES / 2);
    unsigned right[4][8][2], left[4][4];
#pragma unroll
    for (int k = 0; k < 4; ++k) {
#pragma unroll
        for (int n = 0; n < 8; ++n)
#pragma unroll
            for (int half = 0; half < 2; ++half)
                right[k][n][half] = matrix[(n * 8 + g) * (NODES / 2) + k * 8 + half * 4 + m];
        left[k][0] = states[upper + k * 8 + m], left[k][1] = states[lower + k * 8 + m];
        left[k][2] = states[upper + k * 8 + 4 + m], left[k][3] = states[lower + k * 8 + 4 + m];
    }
#pragma unroll 1
    for (int step = 0; step < steps; ++step) {
        float sums[8][4] = {};
#pragma unroll
        for (int k = 0; k < 4; ++k)
#pragma unroll
            for (int n = 0; n < 8; ++n)
                multiply(sums[n], left[k], right[k][n]);
#pragma unroll
        for (int k = 0; k < 4; ++k) {
            left[k][0] = narrow(sums[2 * k][0], sums[2 * k][1]), left[k][1] = narrow(sums[2 * k][2], sums[2 * k][3]);
            left[k][2] = narrow(sums[2 * k + 1][0], sums[2 * k + 1][1]);
            left[k][3] = narrow(sums[2 * k + 1][2], sums[2 * k + 1][3]);
        }
    }
#pragma unroll
    for (int k = 0; k < 4; ++k) {
        later[upper + k * 8 + m] = left[k][0], later[lower + k * 8 + m] = left[k][1];
        later[upper + k * 8 + 4 + m] = left[k][2], later[lower + k * 8 + 4 + m] = left[k][3];
    }
}
