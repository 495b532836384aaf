// Nodal matrices of a circuit in the corners of its process, each factored by a block of its own in shared memory: lower and upper
// triangles in place, with row exchanges. 192 nodes a circuit.

constexpr int NODES = 192, STRIDE = NODES + 1, CHUNKS = NODES / 32, WARPS = 16;

__shared__ int chosen;

// The row from k on whose entry in column k is the largest, the first of equals.
__device__ __forceinline__ void choose_row(const float* matrix, int k)
{
#ifdef BY_ONE
    if (threadIdx.x == 0) {
        int row = k;
        float largest = fabsf(matrix[k * STRIDE + k]);
        for (int i = k + 1; i < NODES; ++i) {
            const float size = fabsf(matrix[i * STRIDE + k]);
            if (size > largest) {
                largest = size;
                row = i;
            }
        }
        chosen = row;
    }
#else
    if (threadIdx.x < 32) {
        int row = NODES;
        float largest = -1.0f;
        for (int i = k + threadIdx.x; i < NODES; i += 32) {
            const float size = fabsf(matrix[i * STRIDE + k]);
            if (size > largest) {
                largest = size;
                row = i;
            }
        }
#pragma unroll
        for (int far = 16; far > 0; far /= 2) {
            const float their_size = __shfl_xor_sync(~0u, largest, far);
            const int their_row = __shfl_xor_sync(~0u, row, far);
            if (their_size > largest || (their_size == largest && their_row < row)) {
                largest = their_size;
                row = their_row;
            }
        }
        if (threadIdx.x == 0)
            chosen = row;
    }
#endif
}

// Launch: grid corners, block 512, shared memory for a matrix of 192 rows of 193 floats.
extern "C" __global__ void __launch_bounds__(32 * WARPS)
factor(const float* __restrict__ matrices, float* __restrict__ factors, int* __restrict__ exchanges)
{
    extern __shared__ float matrix[];
    const size_t first = (size_t)blockIdx.x * NODES * NODES;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    for (int i = warp; i < NODES; i += WARPS)
        for (int j = lane; j < NODES; j += 32)
            matrix[i * STRIDE + j] = matrices[first + i * NODES + j];
    __syncthreads();

#pragma unroll 1
    for (int k = 0; k < NODES; ++k) {
        choose_row(matrix, k);
        __syncthreads();

        const int row = chosen;
        if (threadIdx.x < NODES && row != k) {
            const float other = matrix[row * STRIDE + threadIdx.x];
            matrix[row * STRIDE + threadIdx.x] = matrix[k * STRIDE + threadIdx.x];
            matrix[k * STRIDE + threadIdx.x] = other;
        }
        if (threadIdx.x == 0)
            exchanges[blockIdx.x * NODES + k] = row;
        __syncthreads();

        const float pivot = matrix[k * STRIDE + k];
        const float inverse = 1.0f / pivot;
        if (k + 1 + threadIdx.x < NODES)
            matrix[(k + 1 + threadIdx.x) * STRIDE + k] *= inverse;
        __syncthreads();

        float upper[CHUNKS], own[CHUNKS];
#pragma unroll
        for (int c = 0; c < CHUNKS; ++c)
            upper[c] = 32 * c + lane > k ? matrix[k * STRIDE + 32 * c + lane] : 0.0f;
#pragma unroll 1
        for (int i = k + 1 + warp; i < NODES; i += WARPS) {
            const float lower = matrix[i * STRIDE + k];
#pragma unroll
            for (int c = 0; c < CHUNKS; ++c)
                if (32 * c + 31 > k)
                    own[c] = matrix[i * STRIDE + 32 * c + lane];
#pragma unroll
            for (int c = 0; c < CHUNKS; ++c)
                if (32 * c + 31 > k)
                    matrix[i * STRIDE + 32 * c + lane] = fmaf(-lower, upper[c], own[c]);
        }
        __syncthreads();
    }

    for (int i = warp; i < NODES; i += WARPS)
        for (int j = lane; j < NODES; j += 32)
            factors[first + i * NODES + j] = matrix[i * STRIDE + j];
}
