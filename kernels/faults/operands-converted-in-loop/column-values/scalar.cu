// Values combined by shares: a product of halves whose second operand lies row by row, while a matrix instruction wants pairs of a column.
// Each lane loads both halves of a pair from shared memory and puts them together.

using Half = unsigned short; // sixteen bits, only moved here

constexpr int TILE = 128, DEPTH = 32, PITCH_A = DEPTH + 8, PITCH_B = TILE + 8, STAGES = 4;
constexpr int STAGE = TILE * PITCH_A + DEPTH * PITCH_B;

__device__ __forceinline__ unsigned place(const void* shared) { return (unsigned)__cvta_generic_to_shared(shared); }

// 16 bytes from global to shared memory, on their own.
__device__ __forceinline__ void copy_async(void* to, const void* from)
{
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" :: "r"(place(to)), "l"(from) : "memory");
}
__device__ __forceinline__ void commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int PENDING> __device__ __forceinline__ void wait_for() { asm volatile("cp.async.wait_group %0;" :: "n"(PENDING) : "memory"); }

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

// Launch: grid (columns / 128, rows / 128), block 128, 75,776 bytes of shared memory.
extern "C" __global__ void __launch_bounds__(128, 2)
combine(const Half* __restrict__ share, const Half* __restrict__ value, float* __restrict__ out, int columns, int length)
{
    extern __shared__ __align__(16) Half memory[];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const Half* from_a = share + (size_t)(blockIdx.y * TILE + threadIdx.x / 4) * length + threadIdx.x % 4 * 8;
    const Half* from_b = value + (size_t)(threadIdx.x / 16) * columns + blockIdx.x * TILE + threadIdx.x % 16 * 8;
    const auto fetch = [&](int first, int stage) {
        if (first < length) {
            Half* to_a = memory + stage * STAGE + threadIdx.x / 4 * PITCH_A + threadIdx.x % 4 * 8;
            Half* to_b = memory + stage * STAGE + TILE * PITCH_A + threadIdx.x / 16 * PITCH_B + threadIdx.x % 16 * 8;
#pragma unroll
            for (int h = 0; h < 4; ++h) {
                copy_async(to_a + 32 * h * PITCH_A, from_a + (size_t)32 * h * length + first);
                copy_async(to_b + 8 * h * PITCH_B, from_b + (size_t)(8 * h + first) * columns);
            }
        }
        commit();
    };
#pragma unroll
    for (int stage = 0; stage < STAGES - 1; ++stage)
        fetch(stage * DEPTH, stage);

    float sum[4][8][4] = {};
    int stage = 0;
    for (int first = 0; first < length; first += DEPTH) {
        wait_for<STAGES - 2>();
        __syncthreads();
        fetch(first + (STAGES - 1) * DEPTH, stage == 0 ? STAGES - 1 : stage - 1);
        const Half *tile_a = memory + stage * STAGE, *tile_b = tile_a + TILE * PITCH_A;
#pragma unroll
        for (int k = 0; k < DEPTH; k += 16) {
            unsigned x[4][4], y[4][4];
#pragma unroll
            for (int i = 0; i < 4; ++i)
                load_matrix(x[i], &tile_a[(warp % 2 * 64 + 16 * i + lane % 16) * PITCH_A + k + lane / 16 * 8]);
#pragma unroll
            for (int j = 0; j < 4; ++j)
#pragma unroll
                for (int r = 0; r < 4; ++r) {
                    const Half* from = &tile_b[(k + r % 2 * 8 + lane % 4 * 2) * PITCH_B + warp / 2 * 64 + 16 * j + r / 2 * 8 + lane / 4];
                    y[j][r] = from[0] | (unsigned)from[PITCH_B] << 16;
                }
#pragma unroll
            for (int i = 0; i < 4; ++i)
#pragma unroll
                for (int j = 0; j < 8; ++j)
                    multiply(sum[i][j], x[i], y[j / 2][j % 2 * 2], y[j / 2][j % 2 * 2 + 1]);
        }
        stage = stage == STAGES - 1 ? 0 : stage + 1;
    }
#pragma unroll
    for (int i = 0; i < 4; ++i)
#pragma unroll
        for (int j = 0; j < 8; ++j) {
            auto* to = out + (size_t)(blockIdx.y * TILE + warp % 2 * 64 + 16 * i + lane / 4) * columns + blockIdx.x * TILE + warp / 2 * 64 + 8 * j + lane % 4 * 2;
            *reinterpret_cast<float2*>(to) = make_float2(sum[i][j][0], sum[i][j][1]);
            *reinterpret_cast<float2*>(to + (size_t)8 * columns) = make_float2(sum[i][j][2], sum[i][j][3]);
        }
}
