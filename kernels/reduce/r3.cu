// Reduction, step 3: the first addition happens on the way in.
//
// In step 2 half of the threads load a value and never work again. Here a block takes 512 values: each thread loads
// two and keeps their sum, so that half as many blocks do the same tree.

#ifndef ELEMENT
#define ELEMENT float
#endif
using T = ELEMENT;

// Launch: grid ceil(n / 512), block 256. Each block adds 512 of the n values from `values + from` and writes its
// sum to `partials + to`; where there is but one block, its sum is the answer and goes to `sum`.
extern "C" __global__ void reduce_add_on_load(const T* values, unsigned from, T* partials, unsigned to, T* sum,
                                              unsigned n)
{
    __shared__ T tree[256];
    const unsigned thread = threadIdx.x;
    const unsigned i = blockIdx.x * (2 * blockDim.x) + thread;

    const T first = i < n ? values[from + i] : T(0);
    const T second = i + blockDim.x < n ? values[from + i + blockDim.x] : T(0);
    tree[thread] = first + second;
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
