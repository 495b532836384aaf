// Integrates concentrations in cells with as many substeps as they need, each warp at its own pace.

constexpr int WARPS = 16;   // of a block
constexpr int ROUNDS = 32;

// Launch: grid warps' worth of cells / 512, block 512.
extern "C" __global__ void __launch_bounds__(32 * WARPS)
integrate(const int* __restrict__ substeps, const float* __restrict__ concentrations, float* __restrict__ later)
{
    const int lane = threadIdx.x % 32;
    const int warp = threadIdx.x / 32;
    for (int round = 0; round < ROUNDS; ++round) {
        const size_t cells = ((size_t)blockIdx.x * ROUNDS + round) * WARPS + warp;
        const int count = substeps[cells];
        const float step = __fdividef(1.0f, count);
        float c = concentrations[cells * 32 + lane];
        for (int k = 0; k < count; ++k)
            c += step * (0.3f - c * c);
        later[cells * 32 + lane] = c;
    }
}
