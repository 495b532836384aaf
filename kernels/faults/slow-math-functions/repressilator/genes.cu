// Three genes that repress each other in a ring, in cells that differ in how steeply the genes respond. The amounts of the three
// proteins go through explicit steps of time.

struct Cell {
    float strength;  // of the promoters
    float leak;      // what a repressed gene still makes
    float steepness; // exponent of the response
};

// How much a gene makes when its repressor is there in the amount `repressor`.
__device__ __forceinline__ float made(const Cell& cell, float repressor)
{
#ifdef LIBRARY
    return cell.leak + cell.strength / (1.0f + powf(repressor, cell.steepness));
#else
    return cell.leak + __fdividef(cell.strength, 1.0f + __powf(repressor, cell.steepness));
#endif
}

// Launch: grid-stride, block 256. `cells` holds strength, leak and steepness as separate arrays of n.
extern "C" __global__ void __launch_bounds__(256)
ring_of_genes(const float* __restrict__ strength, const float* __restrict__ leak, const float* __restrict__ steepness,
              float* __restrict__ proteins, int n, int steps, float dt)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        const Cell cell{strength[i], leak[i], steepness[i]};
        float a = 1.0f, b = 2.0f, c = 3.0f;
#pragma unroll 1
        for (int s = 0; s < steps; ++s) {
            const float da = made(cell, c) - a, db = made(cell, a) - b, dc = made(cell, b) - c;
            a = fmaf(dt, da, a);
            b = fmaf(dt, db, b);
            c = fmaf(dt, dc, c);
        }
        proteins[i] = a;
        proteins[n + i] = b;
        proteins[2 * n + i] = c;
    }
}
