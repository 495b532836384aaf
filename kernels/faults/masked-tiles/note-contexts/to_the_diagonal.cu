// Each note of a piece against the notes before it: the logarithm of the summed exponentials of their products, under a
// causal mask. A block ends with the tile of its own rows; the longest begin first.

constexpr int ROWS = 128, NOTES = 64, WIDTH = 64, PITCH = WIDTH + 8, STAGES = 3; // halves

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

// Launch: grid (notes / 128, voices), block 128, 27,648 bytes of shared memory.
extern "C" __global__ void __launch_bounds__(128)
contexts(const unsigned short* __restrict__ query, const unsigned short* __restrict__ key, float* __restrict__ context, int notes)
{
    extern __shared__ __align__(16) unsigned short memory[];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int first_row = (int)(gridDim.x - 1 - blockIdx.x) * ROWS + warp * 32;
    const size_t voice = (size_t)blockIdx.y * notes;
    const int piece = threadIdx.x % 8 * 8, of_row = threadIdx.x / 8;
    const unsigned short* from = key + (voice + of_row) * WIDTH + piece;
    const int end = first_row / ROWS * ROWS + ROWS;
    const auto fetch = [&](int first, int stage) {
        if (first < end) {
            unsigned short* to = memory + (stage * NOTES + of_row) * PITCH + piece;
#pragma unroll
            for (int h = 0; h < NOTES; h += 16)
                copy_async(to + h * PITCH, from + (size_t)(first + h) * WIDTH);
        }
        commit();
    };
#pragma unroll
    for (int stage = 0; stage < STAGES - 1; ++stage)
        fetch(stage * NOTES, stage);

    // The rows of the queries stay in registers: two times four fragments of 16 x 16.
    unsigned rows[2][WIDTH / 16][4];
    const auto* mine = reinterpret_cast<const unsigned*>(query + (voice + first_row + lane / 4) * WIDTH) + lane % 4;
#pragma unroll
    for (int m = 0; m < 2; ++m)
#pragma unroll
        for (int k = 0; k < WIDTH / 16; ++k) {
            const unsigned* fragment = mine + 16 * m * (WIDTH / 2) + 8 * k;
            rows[m][k][0] = fragment[0];
            rows[m][k][1] = fragment[8 * (WIDTH / 2)];
            rows[m][k][2] = fragment[4];
            rows[m][k][3] = fragment[8 * (WIDTH / 2) + 4];
        }
    const float least = __int_as_float(0xff800000); // minus infinity: NVRTC has no macro for it
    float largest[4] = {least, least, least, least}, total[4] = {};
    int stage = 0;
    for (int first = 0; first < end; first += NOTES) {
        wait_for<STAGES - 2>();
        __syncthreads();
        fetch(first + (STAGES - 1) * NOTES, stage == 0 ? STAGES - 1 : stage - 1);
        const unsigned short* tile = memory + stage * NOTES * PITCH;
        float score[2][NOTES / 8][4] = {};
#pragma unroll
        for (int k = 0; k < WIDTH / 16; ++k)
#pragma unroll
            for (int n = 0; n < NOTES; n += 16) {
                unsigned y[4];
                load_matrix(y, &tile[(n + lane / 16 * 8 + lane % 8) * PITCH + 16 * k + lane / 8 % 2 * 8]);
#pragma unroll
                for (int m = 0; m < 2; ++m) {
                    multiply(score[m][n / 8], rows[m][k], y[0], y[1]);
                    multiply(score[m][n / 8 + 1], rows[m][k], y[2], y[3]);
                }
            }
#pragma unroll
        for (int part = 0; part < 4; ++part) { // rows lane / 4 + 8 * part of the warp's 32
            const int row = first_row + lane / 4 + 8 * part;
            float most = largest[part];
#pragma unroll
            for (int n = 0; n < NOTES / 8; ++n)
#pragma unroll
                for (int j = 0; j < 2; ++j) {
                    float& value = score[part / 2][n][2 * (part % 2) + j];
                    value = first + 8 * n + lane % 4 * 2 + j <= row ? value * 0.18033688f : least; // log2(e) / 8
                    most = fmaxf(most, value);
                }
            most = fmaxf(most, __shfl_xor_sync(~0u, most, 1));
            most = fmaxf(most, __shfl_xor_sync(~0u, most, 2));
            total[part] *= exp2f(largest[part] - most);
#pragma unroll
            for (int n = 0; n < NOTES / 8; ++n) {
                const float* of_row = &score[part / 2][n][2 * (part % 2)];
                total[part] += exp2f(of_row[0] - most) + exp2f(of_row[1] - most);
            }
            largest[part] = most;
        }
        stage = stage == STAGES - 1 ? 0 : stage + 1;
    }
#pragma unroll
    for (int part = 0; part < 4; ++part) {
        total[part] += __shfl_xor_sync(~0u, total[part], 1);
        total[part] += __shfl_xor_sync(~0u, total[part], 2);
        if (lane % 4 == 0)
            context[voice + first_row + lane / 4 + 8 * part] = (largest[part] + log2f(total[part])) * 0.69314718f;
    }
}
