// Searches a tree whose nodes have 32 keys in 128 bytes, a warp a query: each lane compares one key with a hash of
// the query, and how many are smaller says which of 33 children comes next. How many warps a block has is the launch's
// choice.

constexpr int LEVELS = 5;
constexpr int QUERIES = 16;  // of a warp, one after another

// Launch: grid queries / (16 warps of a block), any block of whole warps. Node n's children begin at 33 n + 1.
extern "C" __global__ void
probe(const unsigned* __restrict__ keys, const unsigned* __restrict__ queries, unsigned* __restrict__ found)
{
    const unsigned warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    const unsigned lane = threadIdx.x % 32;
#pragma unroll 1
    for (int k = 0; k < QUERIES; ++k) {
        unsigned hash = queries[warp * QUERIES + k];
        unsigned node = 0;
#pragma unroll 1
        for (int level = 0; level < LEVELS; ++level) {
            const unsigned key = keys[(size_t)node * 32 + lane];
            node = node * 33 + 1 + __popc(__ballot_sync(~0u, key < hash));
            hash *= 2654435761u;
        }
        if (lane == 0)
            found[warp * QUERIES + k] = node;
    }
}
