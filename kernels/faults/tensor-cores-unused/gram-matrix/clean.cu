// How alike descriptors of two sets are: all inner products of vectors of halves, summed up in floats by tensor
// instructions. 128 x 64 products a block, from tiles in shared memory.

constexpr int ROWS = 128, COLUMNS = 64;  // products of a block
constexpr int DEPTH = 32;                // halves of a vector in shared memory at a time
constexpr int PITCH = 20;                // words from vector to vector: 16 and a gap against bank conflicts

__device__ void multiply(float (&sum)[4], unsigned upper, unsigned lower, unsigned right)
{
    asm("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
        : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3]) : "r"(upper), "r"(lower), "r"(right));
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
    // As the instruction deals its operands to lanes; a warp has 32 x 32 products.
    const int g = lane / 4, m = lane % 4, top = warp / 2 * 32, side = warp % 2 * 32;
    float sums[2][4][4] = {};
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
#pragma unroll
        for (int k = 0; k < DEPTH / 2; k += 4) {
            unsigned upper[2], lower[2];
#pragma unroll
            for (int i = 0; i < 2; ++i) {
                upper[i] = left[(top + 16 * i + g) * PITCH + k + m];
                lower[i] = left[(top + 16 * i + g + 8) * PITCH + k + m];
            }
#pragma unroll
            for (int j = 0; j < 4; ++j) {
                const unsigned column = right[(side + 8 * j + g) * PITCH + k + m];
#pragma unroll
                for (int i = 0; i < 2; ++i)
                    multiply(sums[i][j], upper[i], lower[i], column);
            }
        }
    }
#pragma unroll
    for (int i = 0; i < 2; ++i)
#pragma unroll
        for (int j = 0; j < 4; ++j) {
            float* corner = out + (size_t)(top + 16 * i + g) * columns + side + 8 * j + 2 * m;
            *(float2*)corner = make_float2(sums[i][j][0], sums[i][j][1]);
            *(float2*)(corner + 8 * columns) = make_float2(sums[i][j][2], sums[i][j][3]);
        }
}
