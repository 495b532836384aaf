// Similarity of faces: the scalar products of the half-precision embeddings of all probes with those of all faces in a gallery, added
// up in single precision. A block makes a tile of 128 x 128 products and a thread 8 x 8 of them.

constexpr int TILE = 128, DEPTH = 32;

__device__ __forceinline__ float2 widened(unsigned two)
{
    float2 f;
    asm("{\n .reg .f16 low, high;\n mov.b32 {low, high}, %2;\n cvt.f32.f16 %0, low;\n cvt.f32.f16 %1, high;\n}"
        : "=f"(f.x), "=f"(f.y) : "r"(two));
    return f;
}

// Four eighths of a row's part go to different banks.
__device__ __forceinline__ int column(int k, int row) { return row ^ (k >> 3) * 8; }

__device__ __forceinline__ void stage(float (*tile)[TILE], int row, int k, uint4 eight)
{
    const float2 a = widened(eight.x), b = widened(eight.y), c = widened(eight.z), d = widened(eight.w);
    const int at = column(k, row);
    tile[k][at] = a.x;
    tile[k + 1][at] = a.y;
    tile[k + 2][at] = b.x;
    tile[k + 3][at] = b.y;
    tile[k + 4][at] = c.x;
    tile[k + 5][at] = c.y;
    tile[k + 6][at] = d.x;
    tile[k + 7][at] = d.y;
}

// Launch: grid (faces / 128, probes / 128), block 256.
extern "C" __global__ void __launch_bounds__(256, 2)
similarity(const unsigned short* __restrict__ probes, const unsigned short* __restrict__ gallery, float* __restrict__ scores,
           int faces, int length)
{
    __shared__ float a[DEPTH][TILE], b[DEPTH][TILE];
    const int part = threadIdx.x % 4 * 8, row = threadIdx.x / 4;
    const unsigned short* from_a = probes + (size_t)(blockIdx.y * TILE + row) * length + part;
    const unsigned short* from_b = gallery + (size_t)(blockIdx.x * TILE + row) * length + part;

    const int across = threadIdx.x % 16 * 4, down = threadIdx.x / 16 * 4;
    float sum[8][8] = {};
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
            stage(a, row + 64 * h, part, next_a[h]);
            stage(b, row + 64 * h, part, next_b[h]);
        }
        __syncthreads();
#pragma unroll 8
        for (int k = 0; k < DEPTH; ++k) {
            float x[8], y[8];
#pragma unroll
            for (int h = 0; h < 2; ++h) {
                const float4 xs = *reinterpret_cast<const float4*>(&a[k][column(k, down + 64 * h)]);
                const float4 ys = *reinterpret_cast<const float4*>(&b[k][column(k, across + 64 * h)]);
                x[4 * h] = xs.x, x[4 * h + 1] = xs.y, x[4 * h + 2] = xs.z, x[4 * h + 3] = xs.w;
                y[4 * h] = ys.x, y[4 * h + 1] = ys.y, y[4 * h + 2] = ys.z, y[4 * h + 3] = ys.w;
            }
#pragma unroll
            for (int i = 0; i < 8; ++i)
#pragma unroll
                for (int j = 0; j < 8; ++j)
                    sum[i][j] = fmaf(x[i], y[j], sum[i][j]);
        }
    }
#pragma unroll
    for (int i = 0; i < 8; ++i) {
        float* line = scores + (size_t)(blockIdx.y * TILE + down + i % 4 + i / 4 * 64) * faces + blockIdx.x * TILE + across;
        *reinterpret_cast<float4*>(line) = make_float4(sum[i][0], sum[i][1], sum[i][2], sum[i][3]);
        *reinterpret_cast<float4*>(line + 64) = make_float4(sum[i][4], sum[i][5], sum[i][6], sum[i][7]);
    }
}
