// Heat that runs down through layers: each layer passes on a share of what reaches it, to every layer below. What becomes of a unit of heat is the
// inverse of a triangular matrix. A block takes a matrix, and works its rows out one after another.

constexpr int N = 64, GROUPS = 4, ROWS = N / GROUPS;

// Launch: grid (matrices), block 256: a column for each of 64 threads, sixteen of its rows for each of four groups.
extern "C" __global__ void __launch_bounds__(256)
invert(const float* __restrict__ share, float* __restrict__ inverse)
{
    __shared__ __align__(16) float a[N][N];
    __shared__ float part[GROUPS][N];
    const int column = threadIdx.x % N, group = threadIdx.x / N;
    const float* from = share + (size_t)blockIdx.x * N * N;
    for (int i = threadIdx.x; i < N * N; i += 256)
        a[i / N][i % N] = from[i];
    float x[ROWS];
#pragma unroll
    for (int k = 0; k < ROWS; ++k)
        x[k] = group * ROWS + k == column ? 1.0f : 0.0f;
    __syncthreads();
#pragma unroll 1
    for (int i = 1; i < N; ++i) {
        float sum = 0.0f;
#pragma unroll
        for (int k = 0; k < ROWS; ++k)
            sum += (group * ROWS + k < i ? a[i][group * ROWS + k] : 0.0f) * x[k];
        part[group][column] = sum;
        __syncthreads();
        const float row = part[0][column] + part[1][column] + part[2][column] + part[3][column];
        __syncthreads();
#pragma unroll
        for (int k = 0; k < ROWS; ++k)
            x[k] = group * ROWS + k == i ? (i == column ? 1.0f : 0.0f) + row : x[k];
    }
#pragma unroll
    for (int k = 0; k < ROWS; ++k)
        inverse[(size_t)blockIdx.x * N * N + (group * ROWS + k) * N + column] = x[k];
}
