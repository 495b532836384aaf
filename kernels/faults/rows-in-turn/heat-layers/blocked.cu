// Heat that runs down through layers: each layer passes on a share of what reaches it, to every layer below. What becomes of a unit of heat is the
// inverse of a triangular matrix. A block takes a matrix; four warps work out a block of 16 rows each on its diagonal, and what lies below follows from
// products of blocks.

constexpr int N = 64, B = 16, HALF = B / 2, PITCH = N + 16;

// Launch: grid (matrices), block 256.
extern "C" __global__ void __launch_bounds__(256)
invert(const float* __restrict__ share, float* __restrict__ inverse)
{
    __shared__ float a[N][PITCH], x[N][PITCH];
    const float* from = share + (size_t)blockIdx.x * N * N;
    for (int i = threadIdx.x; i < N * N; i += 256) {
        a[i / N][i % N] = from[i];
        x[i / N][i % N] = 0.0f;
    }
    __syncthreads();
    if (threadIdx.x < 128) {
        const int first = threadIdx.x / 32 * B, column = threadIdx.x % B, half = threadIdx.x % 32 / B * HALF;
        float own[HALF];
#pragma unroll
        for (int k = 0; k < HALF; ++k)
            own[k] = half + k == column ? 1.0f : 0.0f;
#pragma unroll
        for (int i = 1; i < B; ++i) {
            float sum = 0.0f;
#pragma unroll
            for (int k = 0; k < HALF; ++k)
                sum += (half + k < i ? a[first + i][first + half + k] : 0.0f) * own[k];
            sum += __shfl_xor_sync(~0u, sum, B);
#pragma unroll
            for (int k = 0; k < HALF; ++k)
                own[k] = half + k == i ? (i == column ? 1.0f : 0.0f) + sum : own[k];
        }
#pragma unroll
        for (int k = 0; k < HALF; ++k)
            x[first + half + k][first + column] = own[k];
    }
    __syncthreads();
    const int row = threadIdx.x / B, column = threadIdx.x % B;
#pragma unroll
    for (int below = 1; below < N / B; ++below) {
#pragma unroll
        for (int c = 0; c < N / B - below; ++c) {
            const int r = c + below;
            float sum = 0.0f;
#pragma unroll
            for (int k = 0; k < below * B; ++k)
                sum += a[r * B + row][c * B + k] * x[c * B + k][c * B + column];
            x[r * B + row][c * B + column] = sum; // for now: the factor on its left is missing
        }
        __syncthreads();
        float done[N / B];
#pragma unroll
        for (int c = 0; c < N / B - below; ++c) {
            const int r = c + below;
            done[c] = 0.0f;
#pragma unroll
            for (int k = 0; k < B; ++k)
                done[c] += x[r * B + row][r * B + k] * x[r * B + k][c * B + column];
        }
        __syncthreads();
#pragma unroll
        for (int c = 0; c < N / B - below; ++c)
            x[(c + below) * B + row][c * B + column] = done[c];
        __syncthreads();
    }
    for (int i = threadIdx.x; i < N * N; i += 256)
        inverse[(size_t)blockIdx.x * N * N + i] = x[i / N][i % N];
}
