// Old versions of records in a multi-version store. A record's changes form a chain of nodes of 32 words: the first word leads to the
// next older node, the others are differences of 31 columns. A warp follows the chain of its record as far back as the snapshot asks.

template <typename Word>
static __device__ Word walk(const Word* __restrict__ nodes, Word node, int hops, unsigned mask, int lane)
{
    Word sum = 0;
    for (int h = 0; h < hops; ++h) {
        const Word word = nodes[(size_t)(node & mask) * 32 + lane];
        sum += word;
        node = __shfl_sync(0xffffffffu, word, 0);
    }
    return sum;
}

// Launch: a warp a record, blocks of whole warps. Few snapshots are old: chains go with the cube of the age.
extern "C" __global__ void restore(const unsigned* __restrict__ nodes, const unsigned* __restrict__ newest,
                                   const unsigned* __restrict__ age, unsigned* __restrict__ columns, int records,
                                   unsigned mask)
{
    const int lane = threadIdx.x & 31;
    const int record = blockIdx.x * (blockDim.x >> 5) + (threadIdx.x >> 5);
    if (record >= records)
        return;
    const unsigned a = age[record];
    const int hops = 1 + (int)((a * a * a) >> 24);
    columns[(size_t)record * 32 + lane] = walk(nodes, newest[record], hops, mask, lane);
}
