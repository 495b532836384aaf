// Birdsong: spectra of calls are held against spectra of species, eight bits for each frequency. Each byte becomes a float of 16 bits before it is
// multiplied.

using Byte = unsigned char;

constexpr int TILE = 128, DEPTH = 64, PITCH = DEPTH + 16, STAGES = 4;
constexpr int STAGE = 2 * TILE * PITCH;

__device__ __forceinline__ unsigned place(const void* shared) { return (unsigned)__cvta_generic_to_shared(shared); }

// 16 bytes from global to shared memory, on their own.
__device__ __forceinline__ void copy_async(void* to, const void* from)
{
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" :: "r"(place(to)), "l"(from) : "memory");
}
__device__ __forceinline__ void commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int PENDING> __device__ __forceinline__ void wait_for() { asm volatile("cp.async.wait_group %0;" :: "n"(PENDING) : "memory"); }

// Four bytes become four floats of 16 bits: the bits of 1024 + byte, less 1024.
__device__ __forceinline__ void widen(unsigned& low, unsigned& high, unsigned bytes)
{
    low = __byte_perm(bytes, 0x64646464, 0x4140);
    high = __byte_perm(bytes, 0x64646464, 0x4342);
    asm("sub.f16x2 %0, %0, %1;" : "+r"(low) : "r"(0x64006400));
    asm("sub.f16x2 %0, %0, %1;" : "+r"(high) : "r"(0x64006400));
}

__device__ __forceinline__ unsigned word(const Byte* shared) { return *reinterpret_cast<const unsigned*>(shared); }

__device__ __forceinline__ void multiply(float (&sum)[4], const unsigned (&a)[4], unsigned b0, unsigned b1)
{
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

// Launch: grid (species / 128, calls / 128), block 128, 81,920 bytes of shared memory.
extern "C" __global__ void __launch_bounds__(128, 2)
compare(const Byte* __restrict__ call, const Byte* __restrict__ kind, float* __restrict__ match, int kinds, int length)
{
    extern __shared__ __align__(16) Byte memory[];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const Byte* from_a = call + (size_t)(blockIdx.y * TILE + threadIdx.x / 4) * length + threadIdx.x % 4 * 16;
    const Byte* from_b = kind + (size_t)(blockIdx.x * TILE + threadIdx.x / 4) * length + threadIdx.x % 4 * 16;
    const auto fetch = [&](int first, int stage) {
        if (first < length) {
            Byte* to = memory + stage * STAGE + threadIdx.x / 4 * PITCH + threadIdx.x % 4 * 16;
#pragma unroll
            for (int h = 0; h < 4; ++h) {
                copy_async(to + 32 * h * PITCH, from_a + (size_t)32 * h * length + first);
                copy_async(to + (TILE + 32 * h) * PITCH, from_b + (size_t)32 * h * length + first);
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
        const Byte *tile_a = memory + stage * STAGE, *tile_b = tile_a + TILE * PITCH;
#pragma unroll
        for (int k = 0; k < DEPTH; k += 16) {
            // A lane takes four neighbours of a row where the fragment has two and two: alike in both operands, so that the same are multiplied.
            unsigned x[4][4], y[8][2];
#pragma unroll
            for (int i = 0; i < 4; ++i) {
                const Byte* row = &tile_a[(warp % 2 * 64 + 16 * i + lane / 4) * PITCH + k + lane % 4 * 4];
                widen(x[i][0], x[i][2], word(row));
                widen(x[i][1], x[i][3], word(row + 8 * PITCH));
            }
#pragma unroll
            for (int j = 0; j < 8; ++j)
                widen(y[j][0], y[j][1], word(&tile_b[(warp / 2 * 64 + 8 * j + lane / 4) * PITCH + k + lane % 4 * 4]));
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
            auto* to = match + (size_t)(blockIdx.y * TILE + warp % 2 * 64 + 16 * i + lane / 4) * kinds + blockIdx.x * TILE + warp / 2 * 64 + 8 * j + lane % 4 * 2;
            *reinterpret_cast<float2*>(to) = make_float2(sum[i][j][0], sum[i][j][1]);
            *reinterpret_cast<float2*>(to + (size_t)8 * kinds) = make_float2(sum[i][j][2], sum[i][j][3]);
        }
}
