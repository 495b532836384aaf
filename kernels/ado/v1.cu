// ADO, step 1: the direct translation, and only one block of it.
//
// One block of L threads works through all N sets. Thread j owns vector component j: it averages that
// component over the set's M vectors, and then the block forms one output row after another, the L
// products of a row being added up by a sweep in shared memory. The next step changes only the grid.

// input[(k * L + j) * M + i]   component j of vector i of set k
// matrix[i * L + j]            row i, column j
// output[i * N + k]            row i of the matrix times the average of set k
//
// Launch: grid 1, block L (at most 1024), dynamic shared memory L * 4 bytes.
extern "C" __global__ void average_then_sweep_one_block(const float* __restrict__ input,
                                                        const float* __restrict__ matrix,
                                                        float* __restrict__ output,
                                                        int N, int M, int L)
{
    extern __shared__ float terms[];
    const int j = threadIdx.x;
    const int power = 1 << (31 - __clz(L));  // the largest power of two up to L

    for (int k = 0; k < N; ++k) {
        // Neighbouring threads read M floats apart, so every lane of a warp needs a sector of its own.
        const float* component = input + ((size_t)k * L + j) * M;
        float sum = 0.0f;
        for (int i = 0; i < M; ++i)
            sum += component[i];
        const float average = sum / M;

        for (int row = 0; row < L; ++row) {
            __syncthreads();  // the row before has been read out of terms[]
            terms[j] = matrix[(size_t)row * L + j] * average;

            // Fold the upper half onto the lower half until one term is left. What lies beyond the largest
            // power of two in L is folded first.
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
}
