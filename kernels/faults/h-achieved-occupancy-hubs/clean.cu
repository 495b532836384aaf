// Strengths of vertices, a warp a vertex. The 16 vertices of a block lie a grid apart and have the same number of edges
// (the grid is a multiple of 16), so that its warps end together.

constexpr int HUB = 1024;   // edges of every 16th vertex
constexpr int LEAF = 128;   // of the others
constexpr int GROUP = HUB + 15 * LEAF;

// Launch: grid vertices / 16, block 512: a warp a vertex.
extern "C" __global__ void __launch_bounds__(512)
strengths(const unsigned* __restrict__ weights, unsigned* __restrict__ strength)
{
    const unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const unsigned v = warp * gridDim.x + blockIdx.x;
    const unsigned degree = v % 16 == 0 ? HUB : LEAF;
    const unsigned* own = weights + (size_t)(v / 16) * GROUP + (v % 16 == 0 ? 0 : HUB + (v % 16 - 1) * LEAF);
    unsigned sum = 0;
#pragma unroll 1
    for (unsigned e = lane; e < degree; e += 32)
        sum += own[e];
    for (int offset = 16; offset > 0; offset /= 2)
        sum += __shfl_xor_sync(~0u, sum, offset);
    if (lane == 0)
        strength[v] = sum;
}
