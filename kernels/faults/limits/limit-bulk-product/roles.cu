// Responses of filters: products of halves that lie in pieces. One warp asks for the pieces by bulk copies, three ahead; eight multiply, and
// tell it when a stage is free.

using Half = unsigned short; // sixteen bits, only moved here

constexpr int DOWN = 256, ACROSS = 128, DEPTH = 64, PITCH = DEPTH + 8, STAGES = 4;
constexpr int PIECE_A = DOWN * PITCH, PIECE_B = ACROSS * PITCH, STAGE = PIECE_A + PIECE_B;

__device__ __forceinline__ unsigned place(const void* shared) { return (unsigned)__cvta_generic_to_shared(shared); }

using Barrier = unsigned long long;

__device__ __forceinline__ void prepare(Barrier* barrier, int arrivals)
{
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" :: "r"(place(barrier)), "r"(arrivals) : "memory");
}
// Makes prepared barriers known to the copies.
__device__ __forceinline__ void announce() { asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory"); }
// Arrives, and has the barrier wait for so many bytes besides.
__device__ __forceinline__ void expect(Barrier* barrier, int bytes)
{
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" :: "r"(place(barrier)), "r"(bytes) : "memory");
}
__device__ __forceinline__ void bulk_copy(void* to, const void* from, int bytes, Barrier* barrier)
{
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
                 :: "r"(place(to)), "l"(from), "r"(bytes), "r"(place(barrier)) : "memory");
}
__device__ __forceinline__ bool has_come(Barrier* barrier, int parity)
{
    unsigned come;
    asm volatile("{\n .reg .pred p;\n mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n selp.u32 %0, 1, 0, p;\n}"
                 : "=r"(come) : "r"(place(barrier)), "r"(parity) : "memory");
    return come;
}

__device__ __forceinline__ void arrive(Barrier* barrier)
{
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" :: "r"(place(barrier)) : "memory");
}

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

// Operands lie in pieces: 256 (signals) or 128 (filters) rows of 64 halves each, 72 apart; `turns` pieces make up as many rows.
// Launch: grid (filters / 128, signals / 256), block 288, 221,248 bytes of shared memory.
extern "C" __global__ void __launch_bounds__(288, 1)
respond(const Half* __restrict__ signal, const Half* __restrict__ filter, float* __restrict__ response, int filters, int turns)
{
    extern __shared__ __align__(128) unsigned char memory[];
    Half* tiles = reinterpret_cast<Half*>(memory);
    Barrier* full = reinterpret_cast<Barrier*>(memory + STAGES * 2 * STAGE);
    Barrier* empty = full + STAGES;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    if (threadIdx.x == 0) {
        for (int stage = 0; stage < STAGES; ++stage) {
            prepare(&full[stage], 1);
            prepare(&empty[stage], 8);
        }
        announce();
    }
    __syncthreads();

    int stage = 0, parity = 0;
    if (warp == 8) {
        if (lane == 0) {
            const Half* from_a = signal + (size_t)blockIdx.y * turns * PIECE_A;
            const Half* from_b = filter + (size_t)blockIdx.x * turns * PIECE_B;
            for (int turn = 0; turn < turns; ++turn) {
                while (!has_come(&empty[stage], parity ^ 1)) {
                }
                expect(&full[stage], 2 * STAGE);
                bulk_copy(tiles + stage * STAGE, from_a + (size_t)turn * PIECE_A, 2 * PIECE_A, &full[stage]);
                bulk_copy(tiles + stage * STAGE + PIECE_A, from_b + (size_t)turn * PIECE_B, 2 * PIECE_B, &full[stage]);
                stage = stage == STAGES - 1 ? 0 : stage + 1;
                parity ^= stage == 0;
            }
        }
        return;
    }

    float sum[4][8][4] = {};
    for (int turn = 0; turn < turns; ++turn) {
        while (!has_come(&full[stage], parity)) {
        }
        const Half *tile_a = tiles + stage * STAGE, *tile_b = tile_a + PIECE_A;
#pragma unroll
        for (int k = 0; k < DEPTH; k += 16) {
            unsigned x[4][4], y[4][4];
#pragma unroll
            for (int i = 0; i < 4; ++i)
                load_matrix(x[i], &tile_a[(warp % 4 * 64 + 16 * i + lane % 16) * PITCH + k + lane / 16 * 8]);
#pragma unroll
            for (int j = 0; j < 4; ++j)
                load_matrix(y[j], &tile_b[(warp / 4 * 64 + 16 * j + lane / 16 * 8 + lane % 8) * PITCH + k + lane / 8 % 2 * 8]);
#pragma unroll
            for (int i = 0; i < 4; ++i)
#pragma unroll
                for (int j = 0; j < 8; ++j)
                    multiply(sum[i][j], x[i], y[j / 2][j % 2 * 2], y[j / 2][j % 2 * 2 + 1]);
        }
        __syncwarp();
        if (lane == 0)
            arrive(&empty[stage]);
        stage = stage == STAGES - 1 ? 0 : stage + 1;
        parity ^= stage == 0;
    }
#pragma unroll
    for (int i = 0; i < 4; ++i)
#pragma unroll
        for (int j = 0; j < 8; ++j) {
            auto* to = response + (size_t)(blockIdx.y * DOWN + warp % 4 * 64 + 16 * i + lane / 4) * filters + blockIdx.x * ACROSS + warp / 4 * 64 + 8 * j + lane % 4 * 2;
            *reinterpret_cast<float2*>(to) = make_float2(sum[i][j][0], sum[i][j][1]);
            *reinterpret_cast<float2*>(to + (size_t)8 * filters) = make_float2(sum[i][j][2], sum[i][j][3]);
        }
}
