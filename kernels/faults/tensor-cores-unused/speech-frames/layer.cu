// A quantised layer of a speech recogniser: frames of signed 8-bit features times signed 8-bit weights, summed in 32 bits,
// shifted, clipped at zero and stored in 8 bits. A block makes a tile of 128 frames by 128 neurons.

constexpr int TILE = 128, DEPTH = 32;      // words of four features a stage
constexpr int PITCH = DEPTH + 4;

struct Stage {
    int frame[TILE * PITCH];
    int weight[TILE * PITCH];
};

__device__ __forceinline__ void fetch(int* to, const signed char* from, int row0, int width, int byte0)
{
    for (int c = threadIdx.x; c < TILE * DEPTH / 4; c += 256) {
        const int row = c / (DEPTH / 4), part = c % (DEPTH / 4);
        *reinterpret_cast<int4*>(to + row * PITCH + 4 * part) =
            *reinterpret_cast<const int4*>(from + (size_t)(row0 + row) * width + byte0 + 16 * part);
    }
}

__device__ __forceinline__ unsigned char activate(int sum, int bias)
{
    return (unsigned char)min(max((sum + bias) >> 10, 0), 255);
}

// Launch: grid (neurons / 128, frames / 128), block 256. width is a multiple of 128.
extern "C" __global__ void __launch_bounds__(256, 2)
dense_layer(const signed char* __restrict__ frames, const signed char* __restrict__ weights, const int* __restrict__ bias,
            unsigned char* __restrict__ out, int width, int neurons)
{
    __shared__ __align__(16) Stage stage;
    const int row0 = blockIdx.y * TILE, col0 = blockIdx.x * TILE;
#ifdef BY_THREAD
    const int tx = threadIdx.x % 16, ty = threadIdx.x / 16;
    int sum[8][8] = {};
    for (int at = 0; at < width; at += 4 * DEPTH) {
        fetch(stage.frame, frames, row0, width, at);
        fetch(stage.weight, weights, col0, width, at);
        __syncthreads();
#pragma unroll 1
        for (int k = 0; k < DEPTH; k += 4) {
            int4 w[8];
#pragma unroll
            for (int j = 0; j < 8; ++j)
                w[j] = *reinterpret_cast<const int4*>(&stage.weight[(tx + 16 * j) * PITCH + k]);
#pragma unroll
            for (int i = 0; i < 8; ++i) {
                const int4 f = *reinterpret_cast<const int4*>(&stage.frame[(ty + 16 * i) * PITCH + k]);
#pragma unroll
                for (int j = 0; j < 8; ++j) {
                    sum[i][j] = __dp4a(f.x, w[j].x, sum[i][j]);
                    sum[i][j] = __dp4a(f.y, w[j].y, sum[i][j]);
                    sum[i][j] = __dp4a(f.z, w[j].z, sum[i][j]);
                    sum[i][j] = __dp4a(f.w, w[j].w, sum[i][j]);
                }
            }
        }
        __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < 8; ++i)
#pragma unroll
        for (int j = 0; j < 8; ++j) {
            const int n = col0 + tx + 16 * j;
            out[(size_t)(row0 + ty + 16 * i) * neurons + n] = activate(sum[i][j], bias[n]);
        }
#else
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int group = lane / 4, quad = lane % 4;
    const int wr = warp / 4 * 64, wc = warp % 4 * 32;
    int sum[4][4][4] = {};
    for (int at = 0; at < width; at += 4 * DEPTH) {
        fetch(stage.frame, frames, row0, width, at);
        fetch(stage.weight, weights, col0, width, at);
        __syncthreads();
#pragma unroll
        for (int k = 0; k < DEPTH; k += 8) {
            int w[4][2];
#pragma unroll
            for (int j = 0; j < 4; ++j) {
                w[j][0] = stage.weight[(wc + 8 * j + group) * PITCH + k + quad];
                w[j][1] = stage.weight[(wc + 8 * j + group) * PITCH + k + quad + 4];
            }
#pragma unroll
            for (int i = 0; i < 4; ++i) {
                const int* f = &stage.frame[(wr + 16 * i + group) * PITCH + k + quad];
                const int f0 = f[0], f1 = f[8 * PITCH], f2 = f[4], f3 = f[8 * PITCH + 4];
#pragma unroll
                for (int j = 0; j < 4; ++j)
                    asm("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                        : "+r"(sum[i][j][0]), "+r"(sum[i][j][1]), "+r"(sum[i][j][2]), "+r"(sum[i][j][3])
                        : "r"(f0), "r"(f1), "r"(f2), "r"(f3), "r"(w[j][0]), "r"(w[j][1]));
            }
        }
        __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < 4; ++i)
#pragma unroll
        for (int j = 0; j < 4; ++j) {
            const int n = col0 + wc + 8 * j + 2 * quad, r = row0 + wr + 16 * i + group;
            const int b0 = bias[n], b1 = bias[n + 1];
            *reinterpret_cast<uchar2*>(out + (size_t)r * neurons + n) =
                make_uchar2(activate(sum[i][j][0], b0), activate(sum[i][j][1], b1));
            *reinterpret_cast<uchar2*>(out + (size_t)(r + 8) * neurons + n) =
                make_uchar2(activate(sum[i][j][2], b0), activate(sum[i][j][3], b1));
        }
#endif
}
