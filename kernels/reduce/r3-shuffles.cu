// Reduction, step 3 without its tree in shared memory: a side step.
//
// Two values a thread as in step 3, but each warp adds its 32 up by shuffles and leaves one sum in shared memory;
// the first warp adds those. One barrier is left of nine, and no warp takes part without work.

#ifndef ELEMENT
#define ELEMENT float
#endif
using T = ELEMENT;

// The sum over a warp, whole in lane 0 only.
__device__ __forceinline__ T sum_warp(T value)
{
    for (unsigned s = 16; s > 0; s /= 2)
        value += __shfl_down_sync(0xffffffffu, value, s);
    return value;
}

// Launch: as in step 3.
extern "C" __global__ void reduce_by_shuffles(const T* values, unsigned from, T* partials, unsigned to, T* sum,
                                              unsigned n)
{
    __shared__ T of_warp[8];
    const unsigned thread = threadIdx.x;
    const unsigned i = blockIdx.x * (2 * blockDim.x) + thread;

    const T first = i < n ? values[from + i] : T(0);
    const T second = i + blockDim.x < n ? values[from + i + blockDim.x] : T(0);
    const T mine = sum_warp(first + second);
    if (thread % 32 == 0)
        of_warp[thread / 32] = mine;
    __syncthreads();

    if (thread < 32) {
        const T total = sum_warp(thread < 8 ? of_warp[thread] : T(0));
        if (thread == 0) {
            T* target = gridDim.x == 1 ? sum : partials + to;
            target[blockIdx.x] = total;
        }
    }
}
