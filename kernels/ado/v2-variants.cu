// ADO, step 2: a block per set.
//
// Against step 1 only the grid changes: the loop over the sets becomes the block index, so N blocks fill
// the GPU where one block used a single multiprocessor. Averaging and sweep are step 1's, word for word.

// v2.cu with parts left out, for `adoprof limiter`; lines added there would move those that recordings name.
// Without accesses to global memory a load gives the bits of its address, and a store waits for a value that never
// comes, which the compiler can't know.
#ifdef ARITHMETIC_ONLY
#define LOAD(from) __int_as_float((int)(size_t)(from))
#define STORE(to, value) do { if ((value) == -1.5e-38f) *(to) = (value); } while (0)
#else
#define LOAD(from) (*(from))
#define STORE(to, value) (*(to) = (value))
#endif
#ifdef NO_BARRIER
#define BARRIER()
#else
#define BARRIER() __syncthreads()
#endif

// Launch: grid N, block L (at most 1024), dynamic shared memory L * 4 bytes.
extern "C" __global__ void average_then_sweep(const float* __restrict__ input,
                                              const float* __restrict__ matrix,
                                              float* __restrict__ output,
                                              int N, int M, int L)
{
    extern __shared__ float terms[];
    const int k = blockIdx.x;
    const int j = threadIdx.x;
    [[maybe_unused]] const int power = 1 << (31 - __clz(L));  // the largest power of two up to L

    // Neighbouring threads read M floats apart, so every lane of a warp needs a sector of its own.
    [[maybe_unused]] const float* component = input + ((size_t)k * L + j) * M;
    float sum = 0.0f;
    for (int i = 0; i < M; ++i)
#ifdef COALESCED
        sum += input[(size_t)k * L * M + (size_t)i * L + j];  // as many values, side by side: other averages
#else
        sum += LOAD(component + i);
#endif
    const float average = sum / M;

#ifdef NO_SWEEP
    float kept = average;
    for (int row = 0; row < L; ++row) {
        kept += matrix[(size_t)row * L + j];
        if (j == 0)
            output[(size_t)row * N + k] = kept;
    }
    if (kept == -1.5e-38f)  // never, but every thread's loads might matter
        output[k] = kept;
#else
    for (int row = 0; row < L; ++row) {
        BARRIER();  // the row before has been read out of terms[]
        terms[j] = LOAD(matrix + (size_t)row * L + j) * average;

        // Fold the upper half onto the lower half until one term is left.
        if (power < L) {
            BARRIER();
            if (j < L - power)
                terms[j] += terms[j + power];
        }
        for (int half = power / 2; half > 0; half /= 2) {
            BARRIER();
            if (j < half)
                terms[j] += terms[j + half];
        }
        if (j == 0)
            STORE(output + (size_t)row * N + k, terms[0]);
    }
#endif
}
