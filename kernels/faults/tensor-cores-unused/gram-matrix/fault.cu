// How alike descriptors of two sets are: all inner products of vectors of halves, summed up in floats by the
// multiply-adds of the plain pipes. 128 x 64 products a block, from tiles in shared memory.

constexpr int ROWS = 128, COLUMNS = 64;  // products of a block
constexpr int DEPTH = 32;                // halves of a vector in shared memory at a time
constexpr int PITCH = 20;                // words from vector to vector: 16 and a gap against bank conflicts

__device__ float2 widen(unsigned halves)
{
    float2 both;
    asm("{ .reg .f16 low, high; mov.b32 {low, high}, %2; cvt.f32.f16 %0, low; cvt.f32.f16 %1, high; }"
        : "=f"(both.x), "=f"(both.y) : "r"(halves));
    return both;
}

// Launch: grid (second set / 64, first set / 128), block 256. Vectors have `dimensions` halves, a multiple of 32.
extern "C" __global__ void __launch_bounds__(256, 2)
compare(const unsigned short* __restrict__ first, const unsigned short* __restrict__ second,
        float* __restrict__ products, int columns, int dimensions)
{
    __shared__ __align__(16) unsigned left[ROWS * PITCH], right[COLUMNS * PITCH];
    const int t = threadIdx.x, lane = t % 32, warp = t / 32;
    const int row = t / 4, part = t % 4;  // of the 16 bytes that the thread brings
    const unsigned short* from_first = first + ((size_t)blockIdx.y * ROWS + row) * dimensions + part * 8;
    const unsigned short* from_second = second + ((size_t)blockIdx.x * COLUMNS + row) * dimensions + part * 8;
    float* out = products + (size_t)blockIdx.y * ROWS * columns + blockIdx.x * COLUMNS;
    const int ty = warp * 2 + lane / 16, tx = lane % 16;
    float sums[8][4] = {};
#pragma unroll 1
    for (int d = 0; d < dimensions; d += DEPTH) {
        const uint4 a = *(const uint4*)(from_first + d);
        const uint4 b = *(const uint4*)(from_first + (size_t)64 * dimensions + d);
        const uint4 c = *(const uint4*)(from_second + d);
        __syncthreads();
        *(uint4*)&left[row * PITCH + part * 4] = a;
        *(uint4*)&left[(row + 64) * PITCH + part * 4] = b;
        *(uint4*)&right[row * PITCH + part * 4] = c;
        __syncthreads();
#pragma unroll 1
        for (int k = 0; k < DEPTH / 2; k += 4) {
            float2 columns_of[4][4];
#pragma unroll
            for (int j = 0; j < 4; ++j) {
                const uint4 words = *(const uint4*)&right[(tx + 16 * j) * PITCH + k];
                columns_of[j][0] = widen(words.x), columns_of[j][1] = widen(words.y);
                columns_of[j][2] = widen(words.z), columns_of[j][3] = widen(words.w);
            }
#pragma unroll
            for (int i = 0; i < 8; ++i) {
                const uint4 words = *(const uint4*)&left[(ty + 16 * i) * PITCH + k];
                const float2 row_of[4] = {widen(words.x), widen(words.y), widen(words.z), widen(words.w)};
#pragma unroll
                for (int j = 0; j < 4; ++j)
#pragma unroll
                    for (int w = 0; w < 4; ++w) {
                        sums[i][j] += row_of[w].x * columns_of[j][w].x;
                        sums[i][j] += row_of[w].y * columns_of[j][w].y;
                    }
            }
        }
    }
#pragma unroll
    for (int i = 0; i < 8; ++i)
#pragma unroll
        for (int j = 0; j < 4; ++j)
            out[(size_t)(ty + 16 * i) * columns + tx + 16 * j] = sums[i][j];
}
