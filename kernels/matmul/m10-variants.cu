// Matrix product, step 10: warp tiles, larger register tiles, and a pipeline of asynchronous copies.
//
// Step 9 still spends a shared-memory instruction on every 16 multiply-adds, and its prefetch takes registers that
// the tiles could use. Here
// - a warp computes a compact 64 x 64 tile of C, a thread 8 x 16 of it: 128 multiply-adds for six 16-byte loads.
//   The lanes are placed so that the hardware can serve the halves of such a load together;
// - the operands of the next k are read while those of this one are used, across tiles too;
// - copies go from global to shared memory without passing through registers, two tiles ahead.
// All 128 sums, both sets of operands and the addresses take nearly the 255 registers that a thread can have. So
// one block of 256 threads fills an SM; independent multiply-adds, not other warps, hide its latencies.

// A block computes ROWS x COLS elements of C. It is wider than high because a column of A costs a copy for each
// float, where rows of B come four floats at a time.
constexpr int ROWS = 128, COLS = 256;
#ifndef DEPTH
#define DEPTH 8   // depth of a tile
#endif
#ifndef STAGES
#define STAGES 3  // tiles in shared memory: one in use, the others on their way
#endif
constexpr int WARPS_DOWN = 2, WARPS_ACROSS = 4;  // the block's warps
constexpr int LANES_DOWN = 8, LANES_ACROSS = 4;  // a warp's lanes
constexpr int BLOCKS_PER_SM = 1;

constexpr int THREADS = 32 * WARPS_DOWN * WARPS_ACROSS;
constexpr int WARP_ROWS = ROWS / WARPS_DOWN;
constexpr int WARP_COLS = COLS / WARPS_ACROSS;
constexpr int EACH_DOWN = WARP_ROWS / LANES_DOWN;  // a thread computes EACH_DOWN x EACH_ACROSS elements in quads
constexpr int EACH_ACROSS = WARP_COLS / LANES_ACROSS;
static_assert(LANES_DOWN * LANES_ACROSS == 32 && LANES_ACROSS % 2 == 0, "a warp has 32 lanes");
static_assert(EACH_DOWN % 4 == 0 && EACH_ACROSS % 4 == 0, "threads work on quads");
static_assert(DEPTH % 2 == 0, "operands alternate between two sets of registers");

// m10.cu with parts left out, for `adoprof limiter`; lines added there would move those that recordings name.
// Without accesses to global memory a copy writes a number made of its address, between 1 and 2 and of few bits, as the
// problem's own are: the power that the multipliers draw depends on it, and the clock on the power. One instruction
// makes it. A store waits for a value that never comes, which the compiler can't know.
#ifdef NO_BARRIER
#define BARRIER()
#else
#define BARRIER() __syncthreads()
#endif
#ifdef ARITHMETIC_ONLY
#define LOAD(from) __int_as_float(((int)(size_t)(from) & 0x00700000) | 0x3f800000)
#endif

struct Stage {
    float a[DEPTH][ROWS + 4];  // [k][row]; the padding spreads the transposing copies over the banks
    float b[DEPTH][COLS];      // [k][column]
};

// Copies BYTES bytes to shared memory, or zeros where there is nothing to copy. Before compute capability 8.0 the
// copy is an ordinary one and done when the function returns.
template <int BYTES>
__device__ __forceinline__ void copy_async(float* to, const float* from, bool there)
{
#if defined(ARITHMETIC_ONLY)
    const float value = there ? LOAD(from) : 0.0f;
    if constexpr (BYTES == 16)
        *(float4*)to = make_float4(value, value, value, value);
    else
        *to = value;
#elif __CUDA_ARCH__ >= 800
    const unsigned address = (unsigned)__cvta_generic_to_shared(to);
    const int bytes = there ? BYTES : 0;
    if constexpr (BYTES == 16)
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" : : "r"(address), "l"(from), "r"(bytes) : "memory");
    else
        asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" : : "r"(address), "l"(from), "r"(bytes) : "memory");
#else
    for (int i = 0; i < BYTES / 4; ++i)
        to[i] = there ? from[i] : 0.0f;
#endif
}

// Ends a group of copies.
__device__ __forceinline__ void commit_copies()
{
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.commit_group;" : : : "memory");
#endif
}

// Waits until no more than LEFT groups of this thread are under way.
template <int LEFT>
__device__ __forceinline__ void wait_for_copies()
{
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.wait_group %0;" : : "n"(LEFT) : "memory");
#endif
}

// Copies tiles of A and B for one block. WHOLE: the block lies wholly inside C and n is a multiple of DEPTH, so that
// nothing needs to be tested and rows of B start on 16 bytes.
template <bool WHOLE>
struct Copier {
    static constexpr int A_ROWS = THREADS / DEPTH;      // rows of A that the threads copy at a time, one float each
    static constexpr int A_COPIES = ROWS / A_ROWS;
    static constexpr int B_WIDTH = WHOLE ? 4 : 1;       // floats of B that a thread copies at a time
    static constexpr int B_ROWS = THREADS * B_WIDTH / COLS;
    static constexpr int B_COPIES = DEPTH / B_ROWS;
    static_assert(A_COPIES * A_ROWS == ROWS && B_COPIES * B_ROWS == DEPTH, "the threads share the copies out evenly");

    const float* a;      // where this thread's first copy of the next tile comes from
    const float* b;
    int n;
    int a_row, a_k;      // its place in the tile
    int b_k, b_col;
    int rows_left;       // rows of A from this thread's first one on
    int k_left;          // depth from the next tile on
    bool col_there;

    __device__ __forceinline__ Copier(const float* A, const float* B, int n, int first_row, int first_col)
        : n(n)
    {
        // The lanes take neighbouring floats of A's rows: a sector is fetched whole.
        a_row = threadIdx.x / DEPTH;
        a_k = threadIdx.x % DEPTH;
        b_k = threadIdx.x * B_WIDTH / COLS;
        b_col = threadIdx.x * B_WIDTH % COLS;
        a = A + (size_t)(first_row + a_row) * n + a_k;
        b = B + (size_t)b_k * n + first_col + b_col;
        rows_left = n - first_row - a_row;
        k_left = n;
        col_there = first_col + b_col < n;
    }

    // Starts the copies of the next tile. Beyond the last one there is nothing to copy.
    __device__ __forceinline__ void start(Stage& stage)
    {
#pragma unroll
        for (int i = 0; i < A_COPIES; ++i)
            copy_async<4>(&stage.a[a_k][a_row + i * A_ROWS], a + (size_t)(i * A_ROWS) * n,
                          WHOLE ? k_left > 0 : a_k < k_left && i * A_ROWS < rows_left);
#pragma unroll
        for (int i = 0; i < B_COPIES; ++i)
            copy_async<4 * B_WIDTH>(&stage.b[b_k + i * B_ROWS][b_col], b + (size_t)(i * B_ROWS) * n,
                                    WHOLE ? k_left > 0 : b_k + i * B_ROWS < k_left && col_there);
    }

    // Ends their group, also where it is empty, because groups are counted; and goes on to the tile after it.
    __device__ __forceinline__ void finish()
    {
        commit_copies();
        a += DEPTH;
        b += (size_t)DEPTH * n;
        k_left -= DEPTH;
    }
};

template <bool WHOLE>
__device__ __forceinline__ void multiply_block(const float* __restrict__ A, const float* __restrict__ B,
                                               float* __restrict__ C, int n, int first_row, int first_col,
                                               Stage* stages)
{
    // The lowest bit of the lane counts columns, the next three rows, the highest columns again. So neighbouring lanes
    // read the same quad of A, lanes two apart the same quad of B, and half a warp needs at most eight different
    // quads: 128 bytes, which shared memory delivers at once.
    const int lane = threadIdx.x % 32;
    const int warp = threadIdx.x / 32;
    const int lane_row = lane / 2 % LANES_DOWN;
    const int lane_col = lane % 2 + lane / (2 * LANES_DOWN) * 2;
    const int row = warp % WARPS_DOWN * WARP_ROWS + 4 * lane_row;     // of the thread's first quads in the block
    const int col = warp / WARPS_DOWN * WARP_COLS + 4 * lane_col;

    Copier<WHOLE> copier(A, B, n, first_row, first_col);
#pragma unroll
    for (int s = 0; s < STAGES - 1; ++s) {
        copier.start(stages[s]);
        copier.finish();
    }

    __align__(16) float column[2][EACH_DOWN];
    __align__(16) float across[2][EACH_ACROSS];
    const auto read = [&](const Stage& stage, int k) {
#pragma unroll
        for (int q = 0; q < EACH_DOWN / 4; ++q)
            *(float4*)&column[k % 2][4 * q] = *(const float4*)&stage.a[k][row + 4 * LANES_DOWN * q];
#pragma unroll
        for (int q = 0; q < EACH_ACROSS / 4; ++q)
            *(float4*)&across[k % 2][4 * q] = *(const float4*)&stage.b[k][col + 4 * LANES_ACROSS * q];
    };

    wait_for_copies<STAGES - 2>();
    BARRIER();
#ifndef MEMORY_ONLY
    read(stages[0], 0);
#endif

    float sum[EACH_DOWN][EACH_ACROSS] = {};
    int used = 0;             // the stage in use
    int filled = STAGES - 1;  // the stage that everyone is done with
    for (int k0 = 0; k0 < n; k0 += DEPTH) {
#ifdef MEMORY_ONLY
        // A thread waits for its own copies and reads none of the others', so nobody waits at a barrier.
        copier.start(stages[filled]);
        copier.finish();
        used = used + 1 == STAGES ? 0 : used + 1;
        filled = filled + 1 == STAGES ? 0 : filled + 1;
        wait_for_copies<STAGES - 2>();
#else
        const Stage& stage = stages[used];
        used = used + 1 == STAGES ? 0 : used + 1;
#pragma unroll
        for (int k = 0; k < DEPTH; ++k) {
            if (k < DEPTH - 1) {
                read(stage, k + 1);
                if (k == 0)
                    copier.start(stages[filled]);
            } else {
                copier.finish();
                filled = filled + 1 == STAGES ? 0 : filled + 1;
                wait_for_copies<STAGES - 2>();
                BARRIER();  // the next tile is there, and everyone has read the last of this one
                read(stages[used], 0);
            }
            // Up and down the columns, so that consecutive instructions share an operand and need not read it from the
            // register file again. Of the orders that do, this was the fastest on an H200.
#pragma unroll
            for (int c = 0; c < EACH_ACROSS; ++c)
#pragma unroll
                for (int i = 0; i < EACH_DOWN; ++i) {
                    const int r = c % 2 ? EACH_DOWN - 1 - i : i;
                    sum[r][c] += column[k % 2][r] * across[k % 2][c];
                }
        }
#endif
    }
#ifdef MEMORY_ONLY
    wait_for_copies<0>();
    sum[0][0] = stages[used].b[copier.b_k][copier.b_col];
#endif

#pragma unroll
    for (int r = 0; r < EACH_DOWN; ++r) {
        const int to_row = first_row + row + r / 4 * 4 * LANES_DOWN + r % 4;
#pragma unroll
        for (int c = 0; c < EACH_ACROSS; c += 4) {
            const int to_col = first_col + col + c * LANES_ACROSS;
            float* to = C + (size_t)to_row * n + to_col;
#ifdef ARITHMETIC_ONLY
            const float all = (sum[r][c] + sum[r][c + 1]) + (sum[r][c + 2] + sum[r][c + 3]);
            if (all == -1.5e-38f && to_row < n && to_col < n)
                *to = all;
#else
            if constexpr (WHOLE) {
                *(float4*)to = make_float4(sum[r][c], sum[r][c + 1], sum[r][c + 2], sum[r][c + 3]);
            } else {
#pragma unroll
                for (int i = 0; i < 4; ++i)
                    if (to_row < n && to_col + i < n)
                        to[i] = sum[r][c + i];
            }
#endif
        }
    }
}

// Launch: grid (ceil(n / 256), ceil(n / 128)), block 256, shared memory for STAGES stages.
extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS_PER_SM)
multiply_warp_tiles(const float* __restrict__ A, const float* __restrict__ B, float* __restrict__ C, int n)
{
    extern __shared__ float4 memory[];
    Stage* stages = (Stage*)memory;
    const int first_row = blockIdx.y * ROWS;
    const int first_col = blockIdx.x * COLS;
    if (n % DEPTH == 0 && first_row + ROWS <= n && first_col + COLS <= n)
        multiply_block<true>(A, B, C, n, first_row, first_col, stages);
    else
        multiply_block<false>(A, B, C, n, first_row, first_col, stages);
}
