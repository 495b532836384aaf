// Queries against keys: scalar products of halves. A block makes a tile of 32 x 32, a warp 16 x 16: each half that it takes from shared
// memory serves 16 products.

using Half = unsigned short; // sixteen bits, only moved here

constexpr int DOWN = 32, ACROSS = 32, DEPTH = 32, PITCH = DEPTH + 8, STAGES = 3;

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

// Launch: grid (keys / 32, rows / 32), block 128, 15,360 bytes of shared memory.
extern "C" __global__ void __launch_bounds__(128, 8)
attend(const Half* __restrict__ query, const Half* __restrict__ key, float* __restrict__ weight, int keys, int length)
{
    extern __shared__ __align__(16) Half memory[];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int part = threadIdx.x % 4 * 8, row = threadIdx.x / 4;
    const Half* from_a = query + (size_t)(blockIdx.y * DOWN + row) * length + part;
    const Half* from_b = key + (size_t)(blockIdx.x * ACROSS + row) * length + part;
    const auto fetch = [&](int first, int stage) {
        if (first < length) {
            Half* to = memory + stage * ((DOWN + ACROSS) * PITCH) + row * PITCH + part;
#pragma unroll
            for (int h = 0; h < DOWN; h += 32)
                copy_async(to + h * PITCH, from_a + (size_t)h * length + first);
#pragma unroll
            for (int h = 0; h < ACROSS; h += 32)
                copy_async(to + (DOWN + h) * PITCH, from_b + (size_t)h * length + first);
        }
        commit();
    };
#pragma unroll
    for (int stage = 0; stage < STAGES - 1; ++stage)
        fetch(stage * DEPTH, stage);

    float sum[1][2][4] = {};
    int stage = 0;
    for (int first = 0; first < length; first += DEPTH) {
        wait_for<STAGES - 2>();
        __syncthreads();
        fetch(first + (STAGES - 1) * DEPTH, stage == 0 ? STAGES - 1 : stage - 1);
        const Half *tile_a = memory + stage * ((DOWN + ACROSS) * PITCH), *tile_b = tile_a + DOWN * PITCH;
#pragma unroll
        for (int k = 0; k < DEPTH; k += 16) {
            unsigned x[1][4], y[1][4];
#pragma unroll
            for (int i = 0; i < 1; ++i) {
                load_matrix(x[i], &tile_a[(warp % 2 * 16 + 16 * i + lane % 16) * PITCH + k + lane / 16 * 8]);
                load_matrix(y[i], &tile_b[(warp / 2 * 16 + 16 * i + lane / 16 * 8 + lane % 8) * PITCH + k + lane / 8 % 2 * 8]);
            }
#pragma unroll
            for (int i = 0; i < 1; ++i)
#pragma unroll
                for (int j = 0; j < 2; ++j)
                    multiply(sum[i][j], x[i], y[j / 2][j % 2 * 2], y[j / 2][j % 2 * 2 + 1]);
        }
        stage = stage == STAGES - 1 ? 0 : stage + 1;
    }
#pragma unroll
    for (int i = 0; i < 1; ++i)
#pragma unroll
        for (int j = 0; j < 2; ++j) {
            auto* to = weight + (size_t)(blockIdx.y * DOWN + warp % 2 * 16 + 16 * i + lane / 4) * keys + blockIdx.x * ACROSS + warp / 2 * 16 + 8 * j + lane % 4 * 2;
            *reinterpret_cast<float2*>(to) = make_float2(sum[i][j][0], sum[i][j][1]);
            *reinterpret_cast<float2*>(to + (size_t)8 * keys) = make_float2(sum[i][j][2], sum[i][j][3]);
        }
}
