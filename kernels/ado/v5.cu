// ADO, step 5: all products as one matrix product.
//
// Steps 1 to 4 multiply the matrix with one average at a time, so each of the N blocks reads the whole matrix
// for a single use of every element. Here the averages go to a scratch array, and a second kernel multiplies
// the matrix with all of them at once, tile by tile out of shared memory: an element read serves 64 outputs.
// The averaging is step 4's, but for the place where its result goes. Neither kernel bounds L any longer.

// Launch: grid N, block (32, 32). averages is scratch, N x L floats: element k * L + j is component j of the
// average of set k. This kernel writes it in full, the next one reads it.
extern "C" __global__ void average_sets(const float* __restrict__ input,
                                        float* __restrict__ averages,
                                        int N, int M, int L)
{
    const int k = blockIdx.x;
    const int lane = threadIdx.x;

    for (int c = threadIdx.y; c < L; c += blockDim.y) {
        const float* component = input + ((size_t)k * L + c) * M;
        float sum = 0.0f;
        for (int i = lane; i < M; i += 32)
            sum += component[i];
        for (int offset = 16; offset > 0; offset /= 2)
            sum += __shfl_down_sync(0xffffffffu, sum, offset);
        if (lane == 0)
            averages[(size_t)k * L + c] = sum / M;
    }
}

constexpr int TILE = 64;           // a block computes TILE x TILE outputs
constexpr int DEPTH = 16;          // columns of the matrix in shared memory at a time
constexpr int SIDE = 16;           // the block is SIDE x SIDE threads
constexpr int EACH = TILE / SIDE;  // a thread computes EACH x EACH outputs in registers

// Both tiles are stored with the depth outermost, so that a thread's EACH operands of one depth lie next to
// each other. The 4 words of padding keep them 16-byte aligned and spread the transposing stores over banks.
constexpr int PITCH = TILE + 4;

// Launch: grid (ceil(N / 64), ceil(L / 64)), block (16, 16).
extern "C" __global__ void __launch_bounds__(SIDE * SIDE)
multiply_tiles(const float* __restrict__ matrix, const float* __restrict__ averages,
               float* __restrict__ output, int N, int L)
{
    __shared__ __align__(16) float rows[DEPTH][PITCH];  // of the matrix
    __shared__ __align__(16) float sets[DEPTH][PITCH];  // of the averages
    const int first_row = blockIdx.y * TILE;
    const int first_set = blockIdx.x * TILE;

    float sum[EACH][EACH] = {};
    for (int j0 = 0; j0 < L; j0 += DEPTH) {
        // Threads with the same y load DEPTH consecutive floats. What lies outside counts as zero.
        const int j = j0 + threadIdx.x;
        for (int r = threadIdx.y; r < TILE; r += SIDE) {
            const int row = first_row + r;
            const int set = first_set + r;
            rows[threadIdx.x][r] = row < L && j < L ? matrix[(size_t)row * L + j] : 0.0f;
            sets[threadIdx.x][r] = set < N && j < L ? averages[(size_t)set * L + j] : 0.0f;
        }
        __syncthreads();

        for (int d = 0; d < DEPTH; ++d) {
            float a[EACH], b[EACH];
            for (int r = 0; r < EACH; ++r)
                a[r] = rows[d][threadIdx.y * EACH + r];
            for (int s = 0; s < EACH; ++s)
                b[s] = sets[d][threadIdx.x * EACH + s];
            for (int r = 0; r < EACH; ++r)
                for (int s = 0; s < EACH; ++s)
                    sum[r][s] += a[r] * b[s];
        }
        __syncthreads();  // before the next tiles overwrite these
    }

    for (int r = 0; r < EACH; ++r) {
        const int row = first_row + threadIdx.y * EACH + r;
        for (int s = 0; s < EACH; ++s) {
            const int set = first_set + threadIdx.x * EACH + s;
            if (row < L && set < N)
                output[(size_t)row * N + set] = sum[r][s];
        }
    }
}
