// ADO, side step of step 2: only the sweep changes, so that its fault is measured alone.
//
// The averaging is step 2's, uncoalesced as it was. The products of a row are added up by shuffles: each
// warp folds its 32 terms in registers, and warp 0 folds the warps' sums. Of the sweep's log2(L) + 1 barriers
// a row one is left, and of its shared memory a word a warp.

__device__ __forceinline__ float fold_warp(float value)
{
    for (int offset = 16; offset > 0; offset /= 2)
        value += __shfl_down_sync(0xffffffffu, value, offset);
    return value;  // whole in lane 0 only
}

// Launch: grid N, block ceil(L / 32) * 32 (at most 1024), no dynamic shared memory. The block is rounded up
// to whole warps because a shuffle needs all 32 lanes.
extern "C" __global__ void average_then_shuffle(const float* __restrict__ input,
                                                const float* __restrict__ matrix,
                                                float* __restrict__ output,
                                                int N, int M, int L)
{
    __shared__ float partial[2][32];  // a sum a warp, for an even and an odd row
    const int k = blockIdx.x;
    const int j = threadIdx.x;
    const int lane = threadIdx.x % 32;
    const int warp = threadIdx.x / 32;
    const int warps = blockDim.x / 32;

    // Neighbouring threads read M floats apart, so every lane of a warp needs a sector of its own.
    float average = 0.0f;
    if (j < L) {
        const float* component = input + ((size_t)k * L + j) * M;
        float sum = 0.0f;
        for (int i = 0; i < M; ++i)
            sum += component[i];
        average = sum / M;
    }

    for (int row = 0; row < L; ++row) {
        const float term = j < L ? matrix[(size_t)row * L + j] * average : 0.0f;
        const float sum = fold_warp(term);
        if (lane == 0)
            partial[row % 2][warp] = sum;
        // With two sets of partial sums one barrier is enough: nobody writes this row's set again before
        // the barrier of the next row, and warp 0 gets there only after reading it.
        __syncthreads();
        if (warp == 0) {
            const float total = fold_warp(lane < warps ? partial[row % 2][lane] : 0.0f);
            if (lane == 0)
                output[(size_t)row * N + k] = total;
        }
    }
}
