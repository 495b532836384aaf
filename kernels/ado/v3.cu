// ADO, step 3: coalesced averaging.
//
// Against step 2 a component belongs to a warp, not to a thread: the 32 lanes stride through its M values
// together, each warp load covering 128 consecutive bytes, and a shuffle adds the lanes' sums. The block
// becomes 32 x 32, a warp per row of it. The sweep of the product is still step 2's.

// Launch: grid N, block (32, 32), dynamic shared memory L * 4 bytes, L at most 1024.
extern "C" __global__ void average_by_warps_then_sweep(const float* __restrict__ input,
                                                       const float* __restrict__ matrix,
                                                       float* __restrict__ output,
                                                       int N, int M, int L)
{
    extern __shared__ float terms[];
    const int k = blockIdx.x;
    const int j = threadIdx.y * blockDim.x + threadIdx.x;
    const int power = 1 << (31 - __clz(L));  // the largest power of two up to L

    for (int c = threadIdx.y; c < L; c += blockDim.y) {
        const float* component = input + ((size_t)k * L + c) * M;
        float sum = 0.0f;
        for (int i = threadIdx.x; i < M; i += 32)
            sum += component[i];
        for (int offset = 16; offset > 0; offset /= 2)
            sum += __shfl_down_sync(0xffffffffu, sum, offset);
        if (threadIdx.x == 0)
            terms[c] = sum / M;
    }
    __syncthreads();
    const float average = j < L ? terms[j] : 0.0f;  // from here on a component per thread, as in step 2

    for (int row = 0; row < L; ++row) {
        __syncthreads();  // the averages, then the row before, have been read out of terms[]
        if (j < L)
            terms[j] = matrix[(size_t)row * L + j] * average;

        // Fold the upper half onto the lower half until one term is left.
        if (power < L) {
            __syncthreads();
            if (j < L - power)
                terms[j] += terms[j + power];
        }
        for (int half = power / 2; half > 0; half /= 2) {
            __syncthreads();
            if (j < half)
                terms[j] += terms[j + half];
        }
        if (j == 0)
            output[(size_t)row * N + k] = terms[0];
    }
}
