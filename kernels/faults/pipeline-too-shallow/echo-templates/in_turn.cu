// Echoes of a sonar against templates: the scalar products of all pairs, as TF32 products. A block makes a tile of 128 x 128, a warp
// 64 x 64. It brings a piece of the operands, waits for it, multiplies it, and brings the next.

constexpr int TILE = 128, DEPTH = 32, PITCH = DEPTH + 4;

__device__ __forceinline__ void multiply(float (&sum)[4], const unsigned (&a)[4], unsigned b0, unsigned b1)
{
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

// Launch: grid (templates / 128, echoes / 128), block 128, 36,864 bytes of shared memory.
extern "C" __global__ void __launch_bounds__(128, 2)
compare(const unsigned* __restrict__ echo, const unsigned* __restrict__ shape, float* __restrict__ match, int templates, int length)
{
    extern __shared__ __align__(16) unsigned memory[];
    unsigned *tile_a = memory, *tile_b = memory + TILE * PITCH;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int part = threadIdx.x % 8 * 4, row = threadIdx.x / 8;
    const unsigned* from_a = echo + (size_t)(blockIdx.y * TILE + row) * length + part;
    const unsigned* from_b = shape + (size_t)(blockIdx.x * TILE + row) * length + part;
    float sum[4][8][4] = {};
    for (int first = 0; first < length; first += DEPTH) {
#pragma unroll
        for (int h = 0; h < TILE; h += 16) {
            *reinterpret_cast<uint4*>(&tile_a[(row + h) * PITCH + part]) = *reinterpret_cast<const uint4*>(from_a + (size_t)h * length + first);
            *reinterpret_cast<uint4*>(&tile_b[(row + h) * PITCH + part]) = *reinterpret_cast<const uint4*>(from_b + (size_t)h * length + first);
        }
        __syncthreads();
#pragma unroll
        for (int k = 0; k < DEPTH; k += 8) {
            unsigned x[4][4], y[8][2];
#pragma unroll
            for (int i = 0; i < 4; ++i) {
                const unsigned* from = &tile_a[(warp % 2 * 64 + 16 * i + lane / 4) * PITCH + k + lane % 4];
                x[i][0] = from[0], x[i][1] = from[8 * PITCH], x[i][2] = from[4], x[i][3] = from[8 * PITCH + 4];
            }
#pragma unroll
            for (int j = 0; j < 8; ++j) {
                const unsigned* from = &tile_b[(warp / 2 * 64 + 8 * j + lane / 4) * PITCH + k + lane % 4];
                y[j][0] = from[0], y[j][1] = from[4];
            }
#pragma unroll
            for (int i = 0; i < 4; ++i)
#pragma unroll
                for (int j = 0; j < 8; ++j)
                    multiply(sum[i][j], x[i], y[j][0], y[j][1]);
        }
        __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < 4; ++i)
#pragma unroll
        for (int j = 0; j < 8; ++j) {
            auto* to = match + (size_t)(blockIdx.y * TILE + warp % 2 * 64 + 16 * i + lane / 4) * templates + blockIdx.x * TILE + warp / 2 * 64 + 8 * j + lane % 4 * 2;
            *reinterpret_cast<float2*>(to) = make_float2(sum[i][j][0], sum[i][j][1]);
            *reinterpret_cast<float2*>(to + (size_t)8 * templates) = make_float2(sum[i][j][2], sum[i][j][3]);
        }
}
