// Reduction, the naive start: neighbours are added in pairs, in global memory.
//
// A launch halves the number of values, and log2(n) launches leave one. Every addition costs two reads and a write
// of global memory, 3n in all where n would do, and the last dozen launches have next to nothing to do.

#ifndef ELEMENT
#define ELEMENT float
#endif
using T = ELEMENT;

// Launch: grid ceil(ceil(n / 2) / 256), block 256. Adds n values from `values + from` in pairs; the sums go to
// `partials + to`, or, where there is but one, to `sum`. A last value without a neighbour is handed on.
extern "C" __global__ void add_pairs(const T* values, unsigned from, T* partials, unsigned to, T* sum, unsigned n)
{
    const unsigned pair = blockIdx.x * blockDim.x + threadIdx.x;
    const unsigned i = 2 * pair;
    if (i >= n)
        return;

    T* target = n <= 2 ? sum : partials + to;
    T total = values[from + i];
    if (i + 1 < n)
        total += values[from + i + 1];
    target[pair] = total;
}
