// Scores of tea blends: 128 x 128 results per block, in steps of 64 leaves along the depth.
using Half = unsigned short; // sixteen bits, only moved here

constexpr int TILE = 128, THREADS = 256;
constexpr int DEPTH = 64, STAGES = 3;
constexpr int ROW_BYTES = DEPTH * 2, PIECES = DEPTH / 8, STAGE_BYTES = 2 * TILE * ROW_BYTES;

// Rows of 128 bytes in shared memory, whose eight pieces of 16 bytes change places by the row: what the matrix units know as
// swizzling by 128 bytes.
__device__ unsigned swizzled(int row, int piece) {
    return row * ROW_BYTES + (piece ^ row * PIECES / 8 % PIECES) * 16;
}

__device__ unsigned long long descriptor(unsigned at) {
    const unsigned long long swizzle = 1, eight_rows = 8 * ROW_BYTES;
    return (at >> 4 & 0x3fff) | 1 << 16 | eight_rows >> 4 << 32 | swizzle << 62;
}

__device__ void copy(unsigned to, const Half *from, size_t length) {
    for (int i = threadIdx.x; i < TILE * PIECES; i += THREADS) {
        const int row = i / PIECES, piece = i % PIECES;
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to + swizzled(row, piece)),
                     "l"(from + row * length + piece * 8));
    }
}

__device__ void multiply(float (&sum)[TILE / 2], unsigned long long a, unsigned long long b) {
    asm volatile(
        "wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16 {"
        "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15,"
        " %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31,"
        " %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47,"
        " %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63"
        "}, %64, %65, 1, 1, 1, 0, 0;"
        : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3]), "+f"(sum[4]), "+f"(sum[5]), "+f"(sum[6]),
          "+f"(sum[7]), "+f"(sum[8]), "+f"(sum[9]), "+f"(sum[10]), "+f"(sum[11]), "+f"(sum[12]), "+f"(sum[13]),
          "+f"(sum[14]), "+f"(sum[15]), "+f"(sum[16]), "+f"(sum[17]), "+f"(sum[18]), "+f"(sum[19]), "+f"(sum[20]),
          "+f"(sum[21]), "+f"(sum[22]), "+f"(sum[23]), "+f"(sum[24]), "+f"(sum[25]), "+f"(sum[26]), "+f"(sum[27]),
          "+f"(sum[28]), "+f"(sum[29]), "+f"(sum[30]), "+f"(sum[31]), "+f"(sum[32]), "+f"(sum[33]), "+f"(sum[34]),
          "+f"(sum[35]), "+f"(sum[36]), "+f"(sum[37]), "+f"(sum[38]), "+f"(sum[39]), "+f"(sum[40]), "+f"(sum[41]),
          "+f"(sum[42]), "+f"(sum[43]), "+f"(sum[44]), "+f"(sum[45]), "+f"(sum[46]), "+f"(sum[47]), "+f"(sum[48]),
          "+f"(sum[49]), "+f"(sum[50]), "+f"(sum[51]), "+f"(sum[52]), "+f"(sum[53]), "+f"(sum[54]), "+f"(sum[55]),
          "+f"(sum[56]), "+f"(sum[57]), "+f"(sum[58]), "+f"(sum[59]), "+f"(sum[60]), "+f"(sum[61]), "+f"(sum[62]),
          "+f"(sum[63])
        : "l"(a), "l"(b));
}

extern "C" __global__ void __launch_bounds__(THREADS)
    rate(const Half *blends, const Half *tasters, float *scores, int columns, int length) {
    extern __shared__ __align__(1024) unsigned char shared[];
    const unsigned base = (unsigned)__cvta_generic_to_shared(shared);
    const Half *rows_from = blends + (size_t)blockIdx.y * TILE * length;
    const Half *columns_from = tasters + (size_t)blockIdx.x * TILE * length;
    const int group = threadIdx.x / 128, turns = length / DEPTH;
    auto begin = [&](int turn) {
        if (turn < turns) {
            const unsigned to = base + turn % STAGES * STAGE_BYTES;
            copy(to, rows_from + turn * DEPTH, length);
            copy(to + TILE * ROW_BYTES, columns_from + turn * DEPTH, length);
        }
        asm volatile("cp.async.commit_group;");
    };
    float sum[TILE / 2] = {};
    for (int turn = 0; turn < STAGES - 1; ++turn) begin(turn);
    for (int turn = 0; turn < turns; ++turn) {
        asm volatile("cp.async.wait_group %0;" ::"n"(STAGES - 2) : "memory");
        asm volatile("fence.proxy.async;" ::: "memory");
        __syncthreads();
        begin(turn + STAGES - 1);
        asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
        const unsigned a = base + turn % STAGES * STAGE_BYTES, b = a + TILE * ROW_BYTES;
#pragma unroll
        for (int step = 0; step < DEPTH / 16; ++step)
            multiply(sum, descriptor(a + step * 32 + group * 64 * ROW_BYTES), descriptor(b + step * 32));
        asm volatile("wgmma.commit_group.sync.aligned;");
        asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
    }
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32 % 4;
    const int row = blockIdx.y * TILE + group * 64 + warp * 16 + lane / 4;
#pragma unroll
    for (int j = 0; j < TILE / 8; ++j) {
        const int column = blockIdx.x * TILE + j * 8 + lane % 4 * 2;
        float2 *to = reinterpret_cast<float2 *>(scores + (size_t)row * columns + column);
        to[0] = make_float2(sum[4 * j], sum[4 * j + 1]);
        to[4 * columns] = make_float2(sum[4 * j + 2], sum[4 * j + 3]);
    }
}
