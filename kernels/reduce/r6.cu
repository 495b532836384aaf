// Reduction, step 6: many elements per thread.
//
// A block's tree, its barriers and its start cost the same however many values went into it, so each should serve
// many. The grid only fills the device, and its threads walk through all values with the width of the grid as
// their stride. Two launches remain: the second adds the blocks' sums. The tree is step 5's.

#ifndef ELEMENT
#define ELEMENT float
#endif
using T = ELEMENT;

// A round that the whole block takes part in, if its tree is that large.
template <unsigned BLOCK, unsigned S>
__device__ __forceinline__ void round_of_block(T* tree, unsigned thread)
{
    if constexpr (BLOCK >= 2 * S) {
        if (thread < S)
            tree[thread] += tree[thread + S];
        __syncthreads();
    }
}

// A round of the last warp: reads and writes are kept apart, since its lanes need not move in step.
template <unsigned S>
__device__ __forceinline__ void round_of_warp(T* tree, unsigned thread, T& total)
{
    total += tree[thread + S];
    __syncwarp();
    tree[thread] = total;
    __syncwarp();
}

// The sum of tree[0 .. BLOCK), which is overwritten; whole in thread 0 only.
template <unsigned BLOCK>
__device__ __forceinline__ T sum_tree(T* tree, unsigned thread)
{
    static_assert(BLOCK >= 64 && BLOCK <= 1024 && (BLOCK & (BLOCK - 1)) == 0, "whole rounds");
    round_of_block<BLOCK, 512>(tree, thread);
    round_of_block<BLOCK, 256>(tree, thread);
    round_of_block<BLOCK, 128>(tree, thread);
    round_of_block<BLOCK, 64>(tree, thread);
    T total = tree[thread];
    if (thread < 32) {
        round_of_warp<32>(tree, thread, total);
        round_of_warp<16>(tree, thread, total);
        round_of_warp<8>(tree, thread, total);
        round_of_warp<4>(tree, thread, total);
        round_of_warp<2>(tree, thread, total);
        round_of_warp<1>(tree, thread, total);
    }
    return total;
}

// Launch: block 256, any grid. Adds all n values of `values`: each block writes its sum to `partials`; where there is
// but one block, its sum is the answer and goes to `sum`.
extern "C" __global__ void reduce_many(const T* values, T* partials, T* sum, unsigned n)
{
    constexpr unsigned BLOCK = 256;
    __shared__ T tree[BLOCK];
    const unsigned thread = threadIdx.x;

    // 64 bits: the last stride steps over the end, which may be beyond 2^32.
    const size_t stride = (size_t)gridDim.x * (2 * BLOCK);
    T total = 0;
    for (size_t i = (size_t)blockIdx.x * (2 * BLOCK) + thread; i < n; i += stride) {
        total += values[i];
        if (i + BLOCK < n)
            total += values[i + BLOCK];
    }
    tree[thread] = total;
    __syncthreads();

    total = sum_tree<BLOCK>(tree, thread);
    if (thread == 0) {
        T* target = gridDim.x == 1 ? sum : partials;
        target[blockIdx.x] = total;
    }
}
