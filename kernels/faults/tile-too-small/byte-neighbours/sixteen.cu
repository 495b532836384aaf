// Words against queries: the products of all pairs of their vectors of signed bytes. A warp makes a tile of 16 x 16, a block 32 x 32.

constexpr int TILE = 32, DEPTH = 64, PITCH = DEPTH + 16, STAGES = 3; // bytes

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

__device__ __forceinline__ void multiply(int (&sum)[4], const unsigned (&a)[4], unsigned b0, unsigned b1)
{
    asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+r"(sum[0]), "+r"(sum[1]), "+r"(sum[2]), "+r"(sum[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

// Launch: grid (words / 32, queries / 32), block 128, 15,360 bytes of shared memory.
extern "C" __global__ void __launch_bounds__(128, 8)
compare(const unsigned char* __restrict__ query, const unsigned char* __restrict__ word, int* __restrict__ score, int words, int length)
{
    extern __shared__ __align__(16) unsigned char memory[];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int part = threadIdx.x % 4 * 16, row = threadIdx.x / 4;
    const int down = warp % 2 * 16, across = warp / 2 * 16;
    const unsigned char* from_a = query + (size_t)(blockIdx.y * TILE + row) * length + part;
    const unsigned char* from_b = word + (size_t)(blockIdx.x * TILE + row) * length + part;
    const auto fetch = [&](int first, int stage) {
        if (first < length) {
            unsigned char* to = memory + stage * (2 * TILE * PITCH) + row * PITCH + part;
#pragma unroll
            for (int h = 0; h < TILE; h += 32) {
                copy_async(to + h * PITCH, from_a + (size_t)h * length + first);
                copy_async(to + (TILE + h) * PITCH, from_b + (size_t)h * length + first);
            }
        }
        commit();
    };
#pragma unroll
    for (int stage = 0; stage < STAGES - 1; ++stage)
        fetch(stage * DEPTH, stage);

    int sum[1][2][4] = {};
    int stage = 0;
    for (int first = 0; first < length; first += DEPTH) {
        wait_for<STAGES - 2>();
        __syncthreads();
        fetch(first + (STAGES - 1) * DEPTH, stage == 0 ? STAGES - 1 : stage - 1);
        const unsigned char *tile_a = memory + stage * (2 * TILE * PITCH), *tile_b = tile_a + TILE * PITCH;
#pragma unroll
        for (int k = 0; k < DEPTH; k += 32) {
            unsigned x[1][4], y[1][4];
#pragma unroll
            for (int i = 0; i < 1; ++i) {
                load_matrix(x[i], &tile_a[(down + 16 * i + lane % 16) * PITCH + k + lane / 16 * 16]);
                load_matrix(y[i], &tile_b[(across + 16 * i + lane / 16 * 8 + lane % 8) * PITCH + k + lane / 8 % 2 * 16]);
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
            auto* to = score + (size_t)(blockIdx.y * TILE + down + 16 * i + lane / 4) * words + blockIdx.x * TILE + across + 8 * j + lane % 4 * 2;
            *reinterpret_cast<int2*>(to) = make_int2(sum[i][j][0], sum[i][j][1]);
            *reinterpret_cast<int2*>(to + (size_t)8 * words) = make_int2(sum[i][j][2], sum[i][j][3]);
        }
}
