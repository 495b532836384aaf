// Random walks in a graph whose nodes have 32 edges, a warp for each walk and a lane for each edge: lanes add up the edges
// they see, and at the end grade their sum by 96 levels above the least of them. KEPT keeps the levels in registers from the
// search for the least to the grading, and those registers are taken while the walk lasts.

constexpr int HOPS = 128;
constexpr int LEVELS = 96;

// Launch: grid walks / 8, block 256.
extern "C" __global__ void __launch_bounds__(256)
walk_graph(const unsigned* __restrict__ edges, const unsigned* __restrict__ starts, const unsigned* __restrict__ levels,
           unsigned* __restrict__ grades)
{
    const unsigned lane = threadIdx.x % 32;
    const unsigned walk = blockIdx.x * 8 + threadIdx.x / 32;
    unsigned node = starts[walk];
    unsigned random = node * 747796405u + walk;
    unsigned sum = 0;
#pragma unroll 1
    for (int hop = 0; hop < HOPS; ++hop) {
        const unsigned edge = edges[node * 32 + lane];
        sum += edge;
        random = random * 1664525u + 1013904223u;
        node = __shfl_sync(~0u, edge, random >> 27);
    }
    unsigned least = ~0u;
    unsigned grade = 0;
#ifdef KEPT
    unsigned kept[LEVELS];
#pragma unroll
    for (int k = 0; k < LEVELS; ++k) {
        kept[k] = levels[k * 32 + lane];
        least = min(least, kept[k]);
    }
#pragma unroll
    for (int k = 0; k < LEVELS; ++k)
        grade += sum > kept[k] - least ? k : 0;
#else
#pragma unroll 4
    for (int k = 0; k < LEVELS; ++k)
        least = min(least, levels[k * 32 + lane]);
#pragma unroll 4
    for (int k = 0; k < LEVELS; ++k)
        grade += sum > levels[k * 32 + lane] - least ? k : 0;
#endif
    grades[walk * 32 + lane] = grade;
}
