// Embeddings against others: scalar products of halves. Rows have an odd number of halves, so that nothing wider than two bytes can be
// loaded: through registers, a half a lane.

using Half = unsigned short; // sixteen bits, only moved here

constexpr int TILE = 128, DEPTH = 32, PITCH = DEPTH + 8;

__device__ __forceinline__ unsigned place(const void* shared) { return (unsigned)__cvta_generic_to_shared(shared); }

// Four matrices of 8 x 8 halves; lane l names the row l % 8 of matrix l / 8.
__device__ __forceinline__ void load_matrix(unsigned (&to)[4], const void* row)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3]) : "r"(place(row)) : "memory");
}

__device__ __forceinline__ void multiply(float (&sum)[4], const unsigned (&a)[4], unsigned b0, unsigned b1)
{
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

// Launch: grid (columns / 128, rows / 128), block 256, 20,480 bytes of shared memory.
extern "C" __global__ void __launch_bounds__(256, 1)
compare(const Half* __restrict__ left, const Half* __restrict__ right, float* __restrict__ alike, int columns, int length, int pitch)
{
    extern __shared__ __align__(16) Half memory[];
    Half *tile_a = memory, *tile_b = memory + TILE * PITCH;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const Half* from_a = left + (size_t)(blockIdx.y * TILE + warp) * pitch + lane;
    const Half* from_b = right + (size_t)(blockIdx.x * TILE + warp) * pitch + lane;
    float sum[4][4][4] = {};
    for (int first = 0; first < length; first += DEPTH) {
        Half next_a[TILE / 8], next_b[TILE / 8];
#pragma unroll
        for (int h = 0; h < TILE / 8; ++h) {
            next_a[h] = from_a[(size_t)8 * h * pitch + first];
            next_b[h] = from_b[(size_t)8 * h * pitch + first];
        }
        __syncthreads();
#pragma unroll
        for (int h = 0; h < TILE / 8; ++h) {
            tile_a[(warp + 8 * h) * PITCH + lane] = next_a[h];
            tile_b[(warp + 8 * h) * PITCH + lane] = next_b[h];
        }
        __syncthreads();
#pragma unroll
        for (int k = 0; k < DEPTH; k += 16) {
            unsigned x[4][4], y[2][4];
#pragma unroll
            for (int i = 0; i < 4; ++i)
                load_matrix(x[i], &tile_a[(warp % 2 * 64 + 16 * i + lane % 16) * PITCH + k + lane / 16 * 8]);
#pragma unroll
            for (int j = 0; j < 2; ++j)
                load_matrix(y[j], &tile_b[(warp / 2 * 32 + 16 * j + lane / 16 * 8 + lane % 8) * PITCH + k + lane / 8 % 2 * 8]);
#pragma unroll
            for (int i = 0; i < 4; ++i)
#pragma unroll
                for (int j = 0; j < 4; ++j)
                    multiply(sum[i][j], x[i], y[j / 2][j % 2 * 2], y[j / 2][j % 2 * 2 + 1]);
        }
    }
#pragma unroll
    for (int i = 0; i < 4; ++i)
#pragma unroll
        for (int j = 0; j < 4; ++j) {
            auto* to = alike + (size_t)(blockIdx.y * TILE + warp % 2 * 64 + 16 * i + lane / 4) * columns + blockIdx.x * TILE + warp / 2 * 32 + 8 * j + lane % 4 * 2;
            *reinterpret_cast<float2*>(to) = make_float2(sum[i][j][0], sum[i][j][1]);
            *reinterpret_cast<float2*>(to + (size_t)8 * columns) = make_float2(sum[i][j][2], sum[i][j][3]);
        }
}
