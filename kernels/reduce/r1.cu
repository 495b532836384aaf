// Reduction, step 1: the working threads are the first ones.
//
// The tree is step 0's, but in round s the threads 0, 1, 2 and so on work at the places 0, 2s, 4s and so on: whole
// warps work or rest, and no modulo is needed. The price: 2s words lie between neighbouring lanes, so that more and
// more of them meet in the same bank.

#ifndef ELEMENT
#define ELEMENT float
#endif
using T = ELEMENT;

// Launch: as in step 0.
extern "C" __global__ void reduce_strided(const T* values, unsigned from, T* partials, unsigned to, T* sum,
                                          unsigned n)
{
    __shared__ T tree[256];
    const unsigned thread = threadIdx.x;
    const unsigned i = blockIdx.x * blockDim.x + thread;

    tree[thread] = i < n ? values[from + i] : T(0);
    __syncthreads();

    for (unsigned s = 1; s < blockDim.x; s *= 2) {
        const unsigned place = 2 * s * thread;
        if (place < blockDim.x)
            tree[place] += tree[place + s];
        __syncthreads();
    }

    if (thread == 0) {
        T* target = gridDim.x == 1 ? sum : partials + to;
        target[blockIdx.x] = tree[0];
    }
}
