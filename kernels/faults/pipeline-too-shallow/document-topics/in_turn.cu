// Documents against topics: scalar products of vectors of halves. A block makes a tile of 128 x 128, a warp 64 x 64. It loads a piece of
// the operands into registers, stores it into shared memory, and multiplies it before it loads the next.

using Half = unsigned short; // sixteen bits, only moved here

constexpr int DOWN = 128, ACROSS = 128, DEPTH = 32, PITCH = DEPTH + 8;

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

// Launch: grid (topics / 128, rows / 128), block 128, 20,480 bytes of shared memory.
extern "C" __global__ void __launch_bounds__(128, 2)
rate(const Half* __restrict__ text, const Half* __restrict__ topic, float* __restrict__ score, int topics, int length)
{
    extern __shared__ __align__(16) Half memory[];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int part = threadIdx.x % 4 * 8, row = threadIdx.x / 4;
    const Half* from_a = text + (size_t)(blockIdx.y * DOWN + row) * length + part;
    const Half* from_b = topic + (size_t)(blockIdx.x * ACROSS + row) * length + part;
    Half *tile_a = memory, *tile_b = memory + DOWN * PITCH;

    float sum[4][8][4] = {};
    for (int first = 0; first < length; first += DEPTH) {
        uint4 next_a[DOWN / 32], next_b[ACROSS / 32];
#pragma unroll
        for (int h = 0; h < DOWN / 32; ++h)
            next_a[h] = *reinterpret_cast<const uint4*>(from_a + (size_t)32 * h * length + first);
#pragma unroll
        for (int h = 0; h < ACROSS / 32; ++h)
            next_b[h] = *reinterpret_cast<const uint4*>(from_b + (size_t)32 * h * length + first);
        __syncthreads();
#pragma unroll
        for (int h = 0; h < DOWN / 32; ++h)
            *reinterpret_cast<uint4*>(&tile_a[(row + 32 * h) * PITCH + part]) = next_a[h];
#pragma unroll
        for (int h = 0; h < ACROSS / 32; ++h)
            *reinterpret_cast<uint4*>(&tile_b[(row + 32 * h) * PITCH + part]) = next_b[h];
        __syncthreads();
#pragma unroll
        for (int k = 0; k < DEPTH; k += 16) {
            unsigned x[4][4], y[4][4];
#pragma unroll
            for (int i = 0; i < 4; ++i)
                load_matrix(x[i], &tile_a[(warp % 2 * 64 + 16 * i + lane % 16) * PITCH + k + lane / 16 * 8]);
#pragma unroll
            for (int j = 0; j < 4; ++j)
                load_matrix(y[j], &tile_b[(warp / 2 * 64 + 16 * j + lane / 16 * 8 + lane % 8) * PITCH + k + lane / 8 % 2 * 8]);
#pragma unroll
            for (int i = 0; i < 4; ++i)
#pragma unroll
                for (int j = 0; j < 8; ++j)
                    multiply(sum[i][j], x[i], y[j / 2][j % 2 * 2], y[j / 2][j % 2 * 2 + 1]);
        }
    }
#pragma unroll
    for (int i = 0; i < 4; ++i)
#pragma unroll
        for (int j = 0; j < 8; ++j) {
            auto* to = score + (size_t)(blockIdx.y * DOWN + warp % 2 * 64 + 16 * i + lane / 4) * topics + blockIdx.x * ACROSS + warp / 2 * 64 + 8 * j + lane % 4 * 2;
            *reinterpret_cast<float2*>(to) = make_float2(sum[i][j][0], sum[i][j][1]);
            *reinterpret_cast<float2*>(to + (size_t)8 * topics) = make_float2(sum[i][j][2], sum[i][j][3]);
        }
}
