// Walks chains of 128-byte slabs, a warp a chain: a lane a word, and the first word says where the next slab lies.
// The repair of damaged links, which hardly ever runs, keeps 128 words in registers, and all warps pay for them.

constexpr int NEAR = 128;  // slabs that a repair looks at

// Launch: grid chains / 4, block 128. `slabs` is a power of two. A word beyond the last slab marks a damaged link.
extern "C" __global__ void __launch_bounds__(128)
walk(const unsigned* __restrict__ words, const unsigned* __restrict__ heads,
     unsigned* __restrict__ digests, unsigned slabs, int hops)
{
    const unsigned chain = blockIdx.x * 4 + threadIdx.x / 32;
    const unsigned lane = threadIdx.x % 32;
    unsigned slab = heads[chain];
    unsigned digest = 0;
    for (int hop = 0; hop < hops; ++hop) {
        const unsigned word = words[(size_t)slab * 32 + lane];
        unsigned link = __shfl_sync(~0u, word, 0);
        if (link >= slabs) {
            unsigned near[NEAR];
#pragma unroll
            for (int k = 0; k < NEAR; ++k)
                near[k] = words[(size_t)((link + k) & (slabs - 1)) * 32 + lane];
            unsigned sum = 0;
#pragma unroll
            for (int k = 0; k < NEAR; ++k)
                sum += near[k] >> 7;
            link = 0;
#pragma unroll
            for (int k = 0; k < NEAR; ++k)
                link += near[k] > sum ? near[k] - sum : sum - near[k];
        }
        slab = (link + chain * 40503u) & (slabs - 1);
        digest = digest * 31 + word;
    }
    digests[chain * 32 + lane] = digest;
}
