// Reduction, step 0: a tree in shared memory, interleaved.
//
// Against the naive pairs: a block of 256 threads adds its 256 values up in shared memory and writes one sum, so
// global memory is read about once, and three launches reduce 2^24 values where there were 24. In round s of the
// tree every thread whose index is a multiple of 2s works; the others sit in the same warps and wait, and the
// modulo that picks them is slow.

#ifndef ELEMENT
#define ELEMENT float
#endif
using T = ELEMENT;

// Launch: grid ceil(n / 256), block 256. Each block adds 256 of the n values from `values + from` and writes its
// sum to `partials + to`; where there is but one block, its sum is the answer and goes to `sum`.
extern "C" __global__ void reduce_interleaved(const T* values, unsigned from, T* partials, unsigned to, T* sum,
                                              unsigned n)
{
    __shared__ T tree[256];
    const unsigned thread = threadIdx.x;
    const unsigned i = blockIdx.x * blockDim.x + thread;

    tree[thread] = i < n ? values[from + i] : T(0);
    __syncthreads();

    for (unsigned s = 1; s < blockDim.x; s *= 2) {
        if (thread % (2 * s) == 0)
            tree[thread] += tree[thread + s];
        __syncthreads();
    }

    if (thread == 0) {
        T* target = gridDim.x == 1 ? sum : partials + to;
        target[blockIdx.x] = tree[0];
    }
}
