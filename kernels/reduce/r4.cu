// Reduction, step 4: the last warp goes on without barriers.
//
// Once 64 values are left, one warp is at work, and seven others meet at barriers for nothing. They leave, and the
// warp adds the rest up by itself. The literature's code counted on the lanes of a warp moving in step. Since Volta
// they need not: a lane must not overwrite a word before its neighbours have read it, nor read one before it is
// written, so __syncwarp() stands between all reads and all writes.

#ifndef ELEMENT
#define ELEMENT float
#endif
using T = ELEMENT;

// Launch: as in step 3.
extern "C" __global__ void reduce_last_warp(const T* values, unsigned from, T* partials, unsigned to, T* sum,
                                            unsigned n)
{
    __shared__ T tree[256];
    const unsigned thread = threadIdx.x;
    const unsigned i = blockIdx.x * (2 * blockDim.x) + thread;

    const T first = i < n ? values[from + i] : T(0);
    const T second = i + blockDim.x < n ? values[from + i + blockDim.x] : T(0);
    tree[thread] = first + second;
    __syncthreads();

    for (unsigned s = blockDim.x / 2; s > 32; s /= 2) {
        if (thread < s)
            tree[thread] += tree[thread + s];
        __syncthreads();
    }

    if (thread < 32) {
        // All 32 lanes go along to the end: what the upper ones add up is garbage that nobody reads.
        T total = tree[thread];
        for (unsigned s = 32; s > 0; s /= 2) {
            total += tree[thread + s];
            __syncwarp();
            tree[thread] = total;
            __syncwarp();
        }
        if (thread == 0) {
            T* target = gridDim.x == 1 ? sum : partials + to;
            target[blockIdx.x] = total;
        }
    }
}
