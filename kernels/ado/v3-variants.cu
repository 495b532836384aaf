// ADO, step 3: coalesced averaging.
//
// Against step 2 a component belongs to a warp, not to a thread: the 32 lanes stride through its M values
// together, each warp load covering 128 consecutive bytes, and a shuffle adds the lanes' sums. The block
// becomes 32 x 32, a warp per row of it. The sweep of the product is still step 2's.

// v3.cu with parts left out, for `adoprof limiter`; lines added there would move those that recordings name.
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

// Launch: grid N, block (32, 32), dynamic shared memory L * 4 bytes, L at most 1024.
extern "C" __global__ void average_by_warps_then_sweep(const float* __restrict__ input,
                                                       const float* __restrict__ matrix,
                                                       float* __restrict__ output,
                                                       int N, int M, int L)
{
    extern __shared__ float terms[];
    const int k = blockIdx.x;
    const int j = threadIdx.y * blockDim.x + threadIdx.x;
    [[maybe_unused]] const int power = 1 << (31 - __clz(L));  // the largest power of two up to L

    for (int c = threadIdx.y; c < L; c += blockDim.y) {
        const float* component = input + ((size_t)k * L + c) * M;
        float sum = 0.0f;
        for (int i = threadIdx.x; i < M; i += 32)
            sum += LOAD(component + i);
        for (int offset = 16; offset > 0; offset /= 2)
            sum += __shfl_down_sync(0xffffffffu, sum, offset);
        if (threadIdx.x == 0)
            terms[c] = sum / M;
    }
    __syncthreads();
    const float average = j < L ? terms[j] : 0.0f;  // from here on a component per thread, as in step 2

#ifdef NO_SWEEP
    float kept = average;
    for (int row = 0; row < L; ++row) {
        if (j < L)
            kept += matrix[(size_t)row * L + j];
        if (j == 0)
            output[(size_t)row * N + k] = kept;
    }
    if (kept == -1.5e-38f)  // never, but every thread's loads might matter
        output[k] = kept;
#else
    for (int row = 0; row < L; ++row) {
        BARRIER();  // the averages, then the row before, have been read out of terms[]
        if (j < L)
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
