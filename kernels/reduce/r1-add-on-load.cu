// Reduction, step 1 with half of its threads: a side step.
//
// In step 1 half of the threads load a value and never work again. Here a block takes 512 values, and each thread
// adds two on the way in. The tree, and with it the lanes that meet in the same bank, is step 1's.

#ifndef ELEMENT
#define ELEMENT float
#endif
using T = ELEMENT;

// Launch: as in step 3.
extern "C" __global__ void reduce_strided_on_load(const T* values, unsigned from, T* partials, unsigned to, T* sum,
                                                  unsigned n)
{
    __shared__ T tree[256];
    const unsigned thread = threadIdx.x;
    const unsigned i = blockIdx.x * (2 * blockDim.x) + thread;

    const T first = i < n ? values[from + i] : T(0);
    const T second = i + blockDim.x < n ? values[from + i + blockDim.x] : T(0);
    tree[thread] = first + second;
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
