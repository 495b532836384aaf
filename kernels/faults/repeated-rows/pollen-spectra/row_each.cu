// Fluorescence of pollen: SAMPLES spectra against those of KINDS species, kept as bytes with a gain for each 128 bands.
// Each band of a tile comes with its own copy of the gains, although 128 bands share them.

using Half = unsigned short; // sixteen bits, only moved here
using Byte = unsigned char;

constexpr int SAMPLES = 64, KINDS = 128, DEPTH = 32, GROUP = 128, PITCH = DEPTH + 8, WIDE = KINDS + 8, STAGES = 3;
constexpr int GAINS = DEPTH; // rows of gains in a tile

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
__device__ __forceinline__ void load_transposed(unsigned (&to)[4], const void* row)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3]) : "r"(place(row)) : "memory");
}

__device__ __forceinline__ void multiply(float (&sum)[4], const unsigned (&a)[4], unsigned b0, unsigned b1)
{
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

// Two floats, rounded to halves.
__device__ __forceinline__ unsigned halves(float low, float high)
{
    unsigned both;
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(both) : "f"(high), "f"(low));
    return both;
}

// Launch: grid (kinds / 128), block 128, 85,504 bytes of shared memory.
extern "C" __global__ void __launch_bounds__(128, 2)
recognize(const Half* __restrict__ sample, const Byte* __restrict__ kind, const float* __restrict__ gain, float* __restrict__ out, int kinds, int bands)
{
    extern __shared__ __align__(16) unsigned char memory[];
    Half* samples = reinterpret_cast<Half*>(memory);                              // STAGES x SAMPLES x PITCH
    Byte* bytes = reinterpret_cast<Byte*>(samples + STAGES * SAMPLES * PITCH);    // STAGES x DEPTH x KINDS
    float* gains = reinterpret_cast<float*>(bytes + STAGES * DEPTH * KINDS);      // STAGES x GAINS x KINDS
    Half* scaled = reinterpret_cast<Half*>(gains + STAGES * GAINS * KINDS);       // DEPTH x WIDE
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, first_kind = blockIdx.x * KINDS;
    const auto fetch = [&](int first, int stage) {
        if (first < bands) {
            const int row = threadIdx.x / 4, part = threadIdx.x % 4 * 8;
#pragma unroll
            for (int h = 0; h < SAMPLES; h += 32)
                copy_async(samples + (stage * SAMPLES + h + row) * PITCH + part, sample + (size_t)(h + row) * bands + first + part);
            const int band = threadIdx.x / 8, column = threadIdx.x % 8 * 16;
#pragma unroll
            for (int h = 0; h < DEPTH; h += 16)
                copy_async(bytes + (stage * DEPTH + h + band) * KINDS + column, kind + (size_t)(first + h + band) * kinds + first_kind + column);
#pragma unroll
            for (int h = 0; h < DEPTH; h += 4) {
                const int k = h + warp;
                copy_async(gains + (stage * GAINS + k) * KINDS + 4 * lane, gain + (size_t)((first + k) / GROUP) * kinds + first_kind + 4 * lane);
            }
        }
        commit();
    };
#pragma unroll
    for (int stage = 0; stage < STAGES - 1; ++stage)
        fetch(stage * DEPTH, stage);

    float sum[2][8][4] = {};
    int stage = 0;
    for (int first = 0; first < bands; first += DEPTH) {
        wait_for<STAGES - 2>();
        __syncthreads();
        fetch(first + (STAGES - 1) * DEPTH, stage == 0 ? STAGES - 1 : stage - 1);
        // Bytes times gains, as halves: a warp takes every fourth row of 128 bytes.
#pragma unroll
        for (int h = 0; h < DEPTH; h += 4) {
            const int k = h + warp;
            const uchar4 four = *reinterpret_cast<const uchar4*>(bytes + (stage * DEPTH + k) * KINDS + 4 * lane);
            const float4 by = *reinterpret_cast<const float4*>(gains + (stage * GAINS + k) * KINDS + 4 * lane);
            *reinterpret_cast<uint2*>(scaled + k * WIDE + 4 * lane) =
                make_uint2(halves(four.x * by.x, four.y * by.y), halves(four.z * by.z, four.w * by.w));
        }
        __syncthreads();
        const Half* tile = samples + stage * SAMPLES * PITCH;
#pragma unroll
        for (int k = 0; k < DEPTH; k += 16) {
            unsigned x[2][4], y[4][4];
#pragma unroll
            for (int i = 0; i < 2; ++i)
                load_matrix(x[i], &tile[(warp % 2 * 32 + 16 * i + lane % 16) * PITCH + k + lane / 16 * 8]);
#pragma unroll
            for (int j = 0; j < 4; ++j)
                load_transposed(y[j], &scaled[(k + lane % 16) * WIDE + warp / 2 * 64 + 16 * j + lane / 16 * 8]);
#pragma unroll
            for (int i = 0; i < 2; ++i)
#pragma unroll
                for (int j = 0; j < 8; ++j)
                    multiply(sum[i][j], x[i], y[j / 2][j % 2 * 2], y[j / 2][j % 2 * 2 + 1]);
        }
        stage = stage == STAGES - 1 ? 0 : stage + 1;
    }
#pragma unroll
    for (int i = 0; i < 2; ++i)
#pragma unroll
        for (int j = 0; j < 8; ++j) {
            float* to = out + (size_t)(warp % 2 * 32 + 16 * i + lane / 4) * kinds + first_kind + warp / 2 * 64 + 8 * j + lane % 4 * 2;
            *reinterpret_cast<float2*>(to) = make_float2(sum[i][j][0], sum[i][j][1]);
            *reinterpret_cast<float2*>(to + (size_t)8 * kinds) = make_float2(sum[i][j][2], sum[i][j][3]);
        }
}
