// Readings of sensors against patterns, as TF32 products. Rows are first copied to where each begins with a piece of 16 bytes.

constexpr int TILE = 128, DEPTH = 32, PITCH = DEPTH + 4, STAGES = 3;

__device__ __forceinline__ unsigned place(const void* shared) { return (unsigned)__cvta_generic_to_shared(shared); }

// 16 bytes from global to shared memory, on their own.
__device__ __forceinline__ void copy_async(void* to, const void* from)
{
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" :: "r"(place(to)), "l"(from) : "memory");
}
__device__ __forceinline__ void commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int PENDING> __device__ __forceinline__ void wait_for() { asm volatile("cp.async.wait_group %0;" :: "n"(PENDING) : "memory"); }

__device__ __forceinline__ void multiply(float (&sum)[4], const unsigned (&a)[4], unsigned b0, unsigned b1)
{
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

// Rows of `pitch` words to rows of `wide` words, of which the first `length` are wanted.
// Launch: grid (rows), block 256.
extern "C" __global__ void __launch_bounds__(256)
align_rows(const unsigned* __restrict__ from, unsigned* __restrict__ to, int length, int pitch, int wide)
{
    for (int k = threadIdx.x; k < length; k += 256)
        to[(size_t)blockIdx.x * wide + k] = from[(size_t)blockIdx.x * pitch + k];
}

// Launch: grid (patterns / 128, rows / 128), block 128, 110,592 bytes of shared memory.
extern "C" __global__ void __launch_bounds__(128, 2)
respond(const unsigned* __restrict__ reading, const unsigned* __restrict__ pattern, float* __restrict__ response, int patterns, int length,
        int pitch)
{
    extern __shared__ __align__(16) unsigned memory[];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int part = threadIdx.x % 8 * 4, row = threadIdx.x / 8;
    const unsigned* from_a = reading + (size_t)(blockIdx.y * TILE + row) * pitch + part;
    const unsigned* from_b = pattern + (size_t)(blockIdx.x * TILE + row) * pitch + part;
    const auto fetch = [&](int first, int stage) {
        if (first < length) {
            unsigned* to = memory + stage * (2 * TILE * PITCH) + row * PITCH + part;
#pragma unroll 8
            for (int h = 0; h < TILE; h += 16) {
                copy_async(to + h * PITCH, from_a + (size_t)h * pitch + first);
                copy_async(to + (TILE + h) * PITCH, from_b + (size_t)h * pitch + first);
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
        const unsigned *tile_a = memory + stage * (2 * TILE * PITCH), *tile_b = tile_a + TILE * PITCH;
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
        stage = stage == STAGES - 1 ? 0 : stage + 1;
    }
#pragma unroll
    for (int i = 0; i < 4; ++i)
#pragma unroll
        for (int j = 0; j < 8; ++j) {
            auto* to = response + (size_t)(blockIdx.y * TILE + warp % 2 * 64 + 16 * i + lane / 4) * patterns + blockIdx.x * TILE + warp / 2 * 64 + 8 * j + lane % 4 * 2;
            *reinterpret_cast<float2*>(to) = make_float2(sum[i][j][0], sum[i][j][1]);
            *reinterpret_cast<float2*>(to + (size_t)8 * patterns) = make_float2(sum[i][j][2], sum[i][j][3]);
        }
}
