// Similarity of faces: the scalar products of the half-precision embeddings of all probes with those of all faces in a gallery, added
// up in single precision. A block makes a tile of 128 x 128 products and a warp 64 x 32 of them.

constexpr int TILE = 128, DEPTH = 32, PITCH = DEPTH + 8;

__device__ __forceinline__ void multiply(float (&sum)[4], const unsigned (&a)[4], const unsigned (&b)[2])
{
    asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

__device__ __forceinline__ unsigned two(const unsigned short* at) { return *reinterpret_cast<const unsigned*>(at); }

// Launch: grid (faces / 128, probes / 128), block 256.
extern "C" __global__ void __launch_bounds__(256, 2)
similarity(const unsigned short* __restrict__ probes, const unsigned short* __restrict__ gallery, float* __restrict__ scores,
           int faces, int length)
{
    __shared__ __align__(16) unsigned short a[TILE][PITCH], b[TILE][PITCH];
    const int part = threadIdx.x % 4 * 8, row = threadIdx.x / 4;
    const unsigned short* from_a = probes + (size_t)(blockIdx.y * TILE + row) * length + part;
    const unsigned short* from_b = gallery + (size_t)(blockIdx.x * TILE + row) * length + part;

    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int down = warp % 2 * 64 + lane / 4, across = warp / 2 * 32 + lane / 4, pair = lane % 4 * 2;
    float sum[4][4][4] = {};
    for (int k0 = 0; k0 < length; k0 += DEPTH) {
        uint4 next_a[2], next_b[2];
#pragma unroll
        for (int h = 0; h < 2; ++h) {
            next_a[h] = *reinterpret_cast<const uint4*>(from_a + (size_t)64 * h * length + k0);
            next_b[h] = *reinterpret_cast<const uint4*>(from_b + (size_t)64 * h * length + k0);
        }
        __syncthreads();
#pragma unroll
        for (int h = 0; h < 2; ++h) {
            *reinterpret_cast<uint4*>(&a[row + 64 * h][part]) = next_a[h];
            *reinterpret_cast<uint4*>(&b[row + 64 * h][part]) = next_b[h];
        }
        __syncthreads();
#pragma unroll
        for (int k = 0; k < DEPTH; k += 16) {
            unsigned x[4][4], y[4][2];
#pragma unroll
            for (int i = 0; i < 4; ++i) {
                x[i][0] = two(&a[down + 16 * i][k + pair]);
                x[i][1] = two(&a[down + 16 * i + 8][k + pair]);
                x[i][2] = two(&a[down + 16 * i][k + pair + 8]);
                x[i][3] = two(&a[down + 16 * i + 8][k + pair + 8]);
                y[i][0] = two(&b[across + 8 * i][k + pair]);
                y[i][1] = two(&b[across + 8 * i][k + pair + 8]);
            }
#pragma unroll
            for (int i = 0; i < 4; ++i)
#pragma unroll
                for (int j = 0; j < 4; ++j)
                    multiply(sum[i][j], x[i], y[j]);
        }
    }
#pragma unroll
    for (int i = 0; i < 4; ++i)
#pragma unroll
        for (int j = 0; j < 4; ++j) {
            float* line = scores + (size_t)(blockIdx.y * TILE + down + 16 * i) * faces + blockIdx.x * TILE + warp / 2 * 32 + 8 * j + pair;
            *reinterpret_cast<float2*>(line) = make_float2(sum[i][j][0], sum[i][j][1]);
            *reinterpret_cast<float2*>(line + (size_t)8 * faces) = make_float2(sum[i][j][2], sum[i][j][3]);
        }
}
