// Lookups in a tree whose nodes have 32 keys and 32 children, a query a warp at a time: the number of keys below the query is
// the child to follow. Levels follow each other in memory.

constexpr int LEVELS = 5;

// Launch: warps of 32 queries each, in blocks of any number of warps.
extern "C" __global__ void
lookup(const unsigned* __restrict__ keys, const unsigned* __restrict__ queries, unsigned* __restrict__ leaves, int count)
{
    const int lane = threadIdx.x % 32;
    const int warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    const int first = warp * 32;
    if (first >= count)
        return;
    const unsigned mine = first + lane < count ? queries[first + lane] : 0;
    unsigned found = 0;
#pragma unroll 1
    for (int q = 0; q < 32; ++q) {
        const unsigned query = __shfl_sync(~0u, mine, q);
        unsigned node = 0, base = 0, wide = 1;
#pragma unroll
        for (int level = 0; level < LEVELS; ++level) {
            const unsigned key = keys[(size_t)(base + node) * 32 + lane];
            const unsigned below = __popc(__ballot_sync(~0u, key < query));
            node = node * 32 + min(below, 31u);
            base += wide;
            wide *= 32;
        }
        if (lane == q)
            found = node;
    }
    if (first + lane < count)
        leaves[first + lane] = found;
}
