// ADO, step 2: a block per set.
//
// Against step 1 only the grid changes: the loop over the sets becomes the block index, so N blocks fill
// the GPU where one block used a single multiprocessor. Averaging and sweep are step 1's, word for word.

// Launch: grid N, block L (at most 1024), dynamic shared memory L * 4 bytes.
extern "C" __global__ void average_then_sweep(const float* __restrict__ input,
                                              const float* __restrict__ matrix,
                                              float* __restrict__ output,
                                              int N, int M, int L)
{
    extern __shared__ float terms[];
    const int k = blockIdx.x;
    const int j = threadIdx.x;
    const int power = 1 << (31 - __clz(L));  // the largest power of two up to L

    // Neighbouring threads read M floats apart, so every lane of a warp needs a sector of its own.
    const float* component = input + ((size_t)k * L + j) * M;
    float sum = 0.0f;
    for (int i = 0; i < M; ++i)
        sum += component[i];
    const float average = sum / M;

    for (int row = 0; row < L; ++row) {
        __syncthreads();  // the row before has been read out of terms[]
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
