// Reduction, step 2: sequential addressing.
//
// The tree is turned round: the first round adds the upper half of the values to the lower one, the next halves
// that, and so on. Neighbouring lanes now touch neighbouring words, which lie in different banks.

#ifndef ELEMENT
#define ELEMENT float
#endif
using T = ELEMENT;

// r2.cu with parts left out, for `adoprof limiter`; lines added there would move those that recordings name.
// Without accesses to global memory a load gives the bits of its address, and a store waits for a value that never
// comes, which the compiler can't know.
#ifdef ARITHMETIC_ONLY
#define LOAD(from) T(__int_as_float((int)(size_t)(from)))
#define STORE(to, value) do { if ((value) == T(-1.5e38f)) *(to) = (value); } while (0)
#else
#define LOAD(from) (*(from))
#define STORE(to, value) (*(to) = (value))
#endif
#ifdef NO_BARRIER
#define BARRIER()
#else
#define BARRIER() __syncthreads()
#endif

// Launch: as in step 0.
extern "C" __global__ void reduce_sequential(const T* values, unsigned from, T* partials, unsigned to, T* sum,
                                             unsigned n)
{
    [[maybe_unused]] __shared__ T tree[256];
    const unsigned thread = threadIdx.x;
    const unsigned i = blockIdx.x * blockDim.x + thread;

#ifdef MEMORY_ONLY
    const T value = i < n ? values[from + i] : T(0);
    T* target = gridDim.x == 1 ? sum : partials + to;
    if (thread == 0 || value == T(-1.5e38f))  // never, but every thread's load might matter
        target[blockIdx.x] = value;
#else
    tree[thread] = i < n ? LOAD(&values[from + i]) : T(0);
    BARRIER();

    for (unsigned s = blockDim.x / 2; s > 0; s /= 2) {
        if (thread < s)
            tree[thread] += tree[thread + s];
        BARRIER();
    }

    if (thread == 0) {
        T* target = gridDim.x == 1 ? sum : partials + to;
        STORE(&target[blockIdx.x], tree[0]);
    }
#endif
}
