// Outlines of leaves against known ones: the largest scalar product of each. A block takes 256 outlines, which its four warps keep in registers, and goes
// through tiles of 64 known ones. Rows have 80 elements, and so have the tiles.

using Half = unsigned short; // sixteen bits, only moved here

constexpr int ROWS = 256, TILE = 64, WIDE = 80, PITCH = WIDE + 8, STAGES = 4; // ROWS are as many as the stages hold
constexpr int THREADS = 128, PIECES = WIDE / 8; // pieces of 16 bytes

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

// Launch: grid (outlines / 256), block 128, 45,056 bytes of shared memory.
extern "C" __global__ void __launch_bounds__(128)
match(const Half* __restrict__ outline, const Half* __restrict__ known, float* __restrict__ best, int count)
{
    extern __shared__ __align__(16) Half memory[];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;

    // The warp's 64 outlines: four times as many fragments of 16 x 16 as a row has.
    const uint4* from_outline = reinterpret_cast<const uint4*>(outline) + (size_t)blockIdx.x * ROWS * PIECES;
#pragma unroll 10
    for (int i = threadIdx.x; i < ROWS * PIECES; i += THREADS)
        *reinterpret_cast<uint4*>(&memory[i / PIECES * PITCH + i % PIECES * 8]) = from_outline[i];
    __syncthreads();
    unsigned mine[4][WIDE / 16][4];
#pragma unroll
    for (int m = 0; m < 4; ++m)
#pragma unroll
        for (int k = 0; k < WIDE / 16; ++k)
            load_matrix(mine[m][k], &memory[(warp * 64 + 16 * m + lane % 16) * PITCH + 16 * k + lane / 16 * 8]);
    __syncthreads();

    // The rows of a tile lie one behind another without gaps; each thread copies five pieces of them.
    constexpr int COPIES = TILE * PIECES / THREADS;
    const Half* from_known = known + threadIdx.x * 8;
    int to[COPIES];
#pragma unroll
    for (int c = 0; c < COPIES; ++c) {
        const int i = threadIdx.x + c * THREADS;
        to[c] = i / PIECES * PITCH + i % PIECES * 8;
    }
    const auto fetch = [&](int first, int stage) {
        if (first < count) {
#pragma unroll
            for (int c = 0; c < COPIES; ++c)
                copy_async(memory + stage * TILE * PITCH + to[c], from_known + (size_t)first * WIDE + c * THREADS * 8);
        }
        commit();
    };
#pragma unroll
    for (int stage = 0; stage < STAGES - 1; ++stage)
        fetch(stage * TILE, stage);

    float largest[4][2]; // of rows lane / 4 and lane / 4 + 8 of each 16
#pragma unroll
    for (int m = 0; m < 4; ++m)
        largest[m][0] = largest[m][1] = __int_as_float(0xff800000); // minus infinity: NVRTC has no macro for it
    int stage = 0;
#pragma unroll 1
    for (int first = 0; first < count; first += TILE) {
        wait_for<STAGES - 2>();
        __syncthreads();
        fetch(first + (STAGES - 1) * TILE, stage == 0 ? STAGES - 1 : stage - 1);
        const Half* tile = memory + stage * TILE * PITCH;
#pragma unroll 1
        for (int n = 0; n < TILE; n += 16) {
            float score[4][2][4] = {};
#pragma unroll
            for (int k = 0; k < WIDE / 16; ++k) {
                unsigned y[4];
                load_matrix(y, &tile[(n + lane / 16 * 8 + lane % 8) * PITCH + 16 * k + lane / 8 % 2 * 8]);
#pragma unroll
                for (int m = 0; m < 4; ++m) {
                    multiply(score[m][0], mine[m][k], y[0], y[1]);
                    multiply(score[m][1], mine[m][k], y[2], y[3]);
                }
            }
#pragma unroll
            for (int m = 0; m < 4; ++m)
#pragma unroll
                for (int h = 0; h < 2; ++h) {
                    const float one = fmaxf(score[m][0][2 * h], score[m][0][2 * h + 1]), other = fmaxf(score[m][1][2 * h], score[m][1][2 * h + 1]);
                    largest[m][h] = fmaxf(largest[m][h], fmaxf(one, other));
                }
        }
        stage = stage == STAGES - 1 ? 0 : stage + 1;
    }
#pragma unroll
    for (int m = 0; m < 4; ++m)
#pragma unroll
        for (int h = 0; h < 2; ++h) {
            float value = largest[m][h];
            value = fmaxf(value, __shfl_xor_sync(~0u, value, 1));
            value = fmaxf(value, __shfl_xor_sync(~0u, value, 2));
            if (lane % 4 == 0)
                best[(size_t)blockIdx.x * ROWS + warp * 64 + 16 * m + 8 * h + lane / 4] = value;
        }
}
