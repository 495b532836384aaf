// Reduction, step 5: unrolled throughout.
//
// The size of the block is known when the kernel is compiled. As a template parameter it decides there which rounds
// the tree has, and nothing is left of the loop: no counter, no comparison, no branch back.

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

// Launch: as in step 3.
extern "C" __global__ void reduce_unrolled(const T* values, unsigned from, T* partials, unsigned to, T* sum,
                                           unsigned n)
{
    constexpr unsigned BLOCK = 256;
    __shared__ T tree[BLOCK];
    const unsigned thread = threadIdx.x;
    const unsigned i = blockIdx.x * (2 * BLOCK) + thread;

    const T first = i < n ? values[from + i] : T(0);
    const T second = i + BLOCK < n ? values[from + i + BLOCK] : T(0);
    tree[thread] = first + second;
    __syncthreads();

    const T total = sum_tree<BLOCK>(tree, thread);
    if (thread == 0) {
        T* target = gridDim.x == 1 ? sum : partials + to;
        target[blockIdx.x] = total;
    }
}
