// ADO, side step of step 2: only the averaging changes, so that its fault is measured alone.
//
// A warp takes a whole component and its lanes read 32 consecutive floats of it; a shuffle adds the lanes'
// sums. Block size, shared memory and the sweep stay as in step 2, so the difference in time between the
// two is what the uncoalesced loads cost.

// Launch: grid N, block ceil(L / 32) * 32 (at most 1024), dynamic shared memory L * 4 bytes. The block is
// rounded up to whole warps because a shuffle needs all 32 lanes.
extern "C" __global__ void average_coalesced_then_sweep(const float* __restrict__ input,
                                                        const float* __restrict__ matrix,
                                                        float* __restrict__ output,
                                                        int N, int M, int L)
{
    extern __shared__ float terms[];
    const int k = blockIdx.x;
    const int j = threadIdx.x;
    const int power = 1 << (31 - __clz(L));  // the largest power of two up to L
    const int lane = threadIdx.x % 32;
    const int warp = threadIdx.x / 32;
    const int warps = blockDim.x / 32;

    for (int c = warp; c < L; c += warps) {
        const float* component = input + ((size_t)k * L + c) * M;
        float sum = 0.0f;
        for (int i = lane; i < M; i += 32)
            sum += component[i];
        for (int offset = 16; offset > 0; offset /= 2)
            sum += __shfl_down_sync(0xffffffffu, sum, offset);
        if (lane == 0)
            terms[c] = sum / M;
    }
    __syncthreads();
    const float average = j < L ? terms[j] : 0.0f;  // back to a component per thread, as in step 2

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
