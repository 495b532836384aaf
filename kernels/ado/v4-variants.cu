// ADO, step 4: the product's sum by shuffles.
//
// Against step 3 the shared-memory sweep goes. Each warp folds its 32 products in registers, and warp 0 folds
// the 32 sums that the warps leave in shared memory. Of the sweep's log2(L) + 1 barriers a row one is left, and
// of its shared memory a word a warp. The averaging is step 3's.

// v4.cu with parts left out, for `adoprof limiter`; lines added there would move those that recordings name.
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

__device__ __forceinline__ float fold_warp(float value)
{
    for (int offset = 16; offset > 0; offset /= 2)
        value += __shfl_down_sync(0xffffffffu, value, offset);
    return value;  // whole in lane 0 only
}

// Launch: grid N, block (32, 32), dynamic shared memory L * 4 bytes, L at most 1024.
extern "C" __global__ void average_by_warps_then_shuffle(const float* __restrict__ input,
                                                         const float* __restrict__ matrix,
                                                         float* __restrict__ output,
                                                         int N, int M, int L)
{
    extern __shared__ float averages[];
    [[maybe_unused]] __shared__ float partial[2][32];  // a sum a warp, for an even and an odd row
    const int k = blockIdx.x;
    const int lane = threadIdx.x;
    const int warp = threadIdx.y;
    const int j = warp * 32 + lane;

    for (int c = warp; c < L; c += 32) {
        const float* component = input + ((size_t)k * L + c) * M;
        float sum = 0.0f;
        for (int i = lane; i < M; i += 32)
            sum += LOAD(component + i);
        sum = fold_warp(sum);
        if (lane == 0)
            averages[c] = sum / M;
    }
    __syncthreads();
    const float average = j < L ? averages[j] : 0.0f;

#ifdef NO_PRODUCT
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
        const float term = j < L ? LOAD(matrix + (size_t)row * L + j) * average : 0.0f;
        const float sum = fold_warp(term);
        if (lane == 0)
            partial[row % 2][warp] = sum;
        // With two sets of partial sums one barrier is enough, and it is needed: nobody writes this row's set
        // again before the barrier of the next row, and warp 0 gets there only after reading it.
        BARRIER();
        if (warp == 0) {
            const float total = fold_warp(partial[row % 2][lane]);
            if (lane == 0)
                STORE(output + (size_t)row * N + k, total);
        }
    }
#endif
}
