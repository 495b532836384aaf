// Sources mixed by shares: a product of halves whose operands lie as the matrix instructions want them, so that warps load them without
// shared memory. A warp makes a tile of 16 x 16.

constexpr int FRAGMENT = 32; // pieces of 16 bytes, one for each lane: 16 rows and 16 columns

__device__ __forceinline__ void multiply(float (&sum)[4], const unsigned (&a)[4], unsigned b0, unsigned b1)
{
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

// Operands lie in fragments: of 16 rows and 16 halves the 8 that a lane multiplies lie together, `turns` fragments side by side.
// Launch: grid (columns / 32, rows / 32), block 128.
extern "C" __global__ void __launch_bounds__(128, 8)
mix(const uint4* __restrict__ source, const uint4* __restrict__ share, float* __restrict__ mixed, int columns, int turns)
{
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int down = (blockIdx.y * 2 + warp % 2) * 1, across = (blockIdx.x * 2 + warp / 2) * 1;
    const uint4* from_a = source + (size_t)down * turns * FRAGMENT + lane;
    const uint4* from_b = share + (size_t)across * turns * FRAGMENT + lane;
    float sum[1][2][4] = {};
#pragma unroll 2
    for (int turn = 0; turn < turns; ++turn) {
        uint4 a[1], b[1];
#pragma unroll
        for (int i = 0; i < 1; ++i) {
            a[i] = from_a[((size_t)i * turns + turn) * FRAGMENT];
            b[i] = from_b[((size_t)i * turns + turn) * FRAGMENT];
        }
#pragma unroll
        for (int i = 0; i < 1; ++i) {
            const unsigned x[4] = {a[i].x, a[i].y, a[i].z, a[i].w};
#pragma unroll
            for (int j = 0; j < 1; ++j) {
                multiply(sum[i][2 * j], x, b[j].x, b[j].y);
                multiply(sum[i][2 * j + 1], x, b[j].z, b[j].w);
            }
        }
    }
#pragma unroll
    for (int i = 0; i < 1; ++i)
#pragma unroll
        for (int j = 0; j < 2; ++j) {
            auto* to = mixed + (size_t)(16 * down + 16 * i + lane / 4) * columns + 16 * across + 8 * j + lane % 4 * 2;
            *reinterpret_cast<float2*>(to) = make_float2(sum[i][j][0], sum[i][j][1]);
            *reinterpret_cast<float2*>(to + (size_t)8 * columns) = make_float2(sum[i][j][2], sum[i][j][3]);
        }
}
