// A layer whose signals and weights are kept as floats and multiplied as halves. Floats lie in shared memory, and each warp rounds those
// that it multiplies.

constexpr int TILE = 128, DEPTH = 32, PITCH = DEPTH + 8, STAGES = 2;

__device__ __forceinline__ unsigned place(const void* shared) { return (unsigned)__cvta_generic_to_shared(shared); }

// 16 bytes from global to shared memory, on their own.
__device__ __forceinline__ void copy_async(void* to, const void* from)
{
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" :: "r"(place(to)), "l"(from) : "memory");
}
__device__ __forceinline__ void commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int PENDING> __device__ __forceinline__ void wait_for() { asm volatile("cp.async.wait_group %0;" :: "n"(PENDING) : "memory"); }

// Two halves of two floats.
__device__ __forceinline__ unsigned halves(float low, float high)
{
    unsigned both;
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(both) : "f"(high), "f"(low));
    return both;
}

__device__ __forceinline__ void multiply(float (&sum)[4], const unsigned (&a)[4], unsigned b0, unsigned b1)
{
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

__device__ __forceinline__ unsigned rounded(const float* at)
{
    const float2 two = *reinterpret_cast<const float2*>(at);
    return halves(two.x, two.y);
}

// Launch: grid (columns / 128, rows / 128), block 128, 81,920 bytes of shared memory.
extern "C" __global__ void __launch_bounds__(128, 2)
layer(const float* __restrict__ signal, const float* __restrict__ weight, float* __restrict__ out, int columns, int length)
{
    extern __shared__ __align__(16) float memory[];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int part = threadIdx.x % 8 * 4, row = threadIdx.x / 8;
    const float* from_a = signal + (size_t)(blockIdx.y * TILE + row) * length + part;
    const float* from_b = weight + (size_t)(blockIdx.x * TILE + row) * length + part;
    const auto fetch = [&](int first, int stage) {
        if (first < length) {
            float* to = memory + stage * (2 * TILE * PITCH) + row * PITCH + part;
#pragma unroll
            for (int h = 0; h < TILE; h += 16) {
                copy_async(to + h * PITCH, from_a + (size_t)h * length + first);
                copy_async(to + (TILE + h) * PITCH, from_b + (size_t)h * length + first);
            }
        }
        commit();
    };
    fetch(0, 0);

    float sum[4][8][4] = {};
    int stage = 0;
    for (int first = 0; first < length; first += DEPTH) {
        wait_for<STAGES - 2>();
        __syncthreads();
        fetch(first + DEPTH, 1 - stage);
        const float *tile_a = memory + stage * (2 * TILE * PITCH), *tile_b = tile_a + TILE * PITCH;
#pragma unroll
        for (int k = 0; k < DEPTH; k += 16) {
            unsigned x[4][4], y[8][2];
#pragma unroll
            for (int i = 0; i < 4; ++i) {
                const float* from = &tile_a[(warp % 2 * 64 + 16 * i + lane / 4) * PITCH + k + lane % 4 * 2];
                x[i][0] = rounded(from), x[i][1] = rounded(from + 8 * PITCH);
                x[i][2] = rounded(from + 8), x[i][3] = rounded(from + 8 * PITCH + 8);
            }
#pragma unroll
            for (int j = 0; j < 8; ++j) {
                const float* from = &tile_b[(warp / 2 * 64 + 8 * j + lane / 4) * PITCH + k + lane % 4 * 2];
                y[j][0] = rounded(from), y[j][1] = rounded(from + 8);
            }
#pragma unroll
            for (int i = 0; i < 4; ++i)
#pragma unroll
                for (int j = 0; j < 8; ++j)
                    multiply(sum[i][j], x[i], y[j][0], y[j][1]);
        }
        stage = 1 - stage;
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
