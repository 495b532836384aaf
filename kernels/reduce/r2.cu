// Reduction, step 2: sequential addressing.
//
// The tree is turned round: the first round adds the upper half of the values to the lower one, the next halves
// that, and so on. Neighbouring lanes now touch neighbouring words, which lie in different banks.

#ifndef ELEMENT
#define ELEMENT float
#endif
using T = ELEMENT;

// Launch: as in step 0.
extern "C" __global__ void reduce_sequential(const T* values, unsigned from, T* partials, unsigned to, T* sum,
                                             unsigned n)
{
    __shared__ T tree[256];
    const unsigned thread = threadIdx.x;
    const unsigned i = blockIdx.x * blockDim.x + thread;

    tree[thread] = i < n ? values[from + i] : T(0);
    __syncthreads();

    for (unsigned s = blockDim.x / 2; s > 0; s /= 2) {
        if (thread < s)
            tree[thread] += tree[thread + s];
        __syncthreads();
    }

    if (thread == 0) {
        T* target = gridDim.x == 1 ? sum : partials + to;
        target[blockIdx.x] = tree[0];
    }
}
