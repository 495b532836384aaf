// Expands compressed audio samples: the size of a sample grows with its fourth power. A block takes tiles of 2048 samples,
// with the grid's stride; a thread has eight of a tile, side by side or 256 apart.

constexpr unsigned TILE = 2048;

// Launch: any grid, block 256.
extern "C" __global__ void __launch_bounds__(256)
expand_samples(const float* __restrict__ compressed, float* __restrict__ expanded, unsigned count)
{
#pragma unroll 1
    for (unsigned tile = blockIdx.x * TILE; tile < count; tile += gridDim.x * TILE) {
#pragma unroll
        for (unsigned k = 0; k < 8; ++k) {
#ifdef APART
            const unsigned i = tile + k * 256 + threadIdx.x;
#else
            const unsigned i = tile + threadIdx.x * 8 + k;
#endif
            const float sample = compressed[i];
            const float square = sample * sample;
            expanded[i] = copysignf(square * square, sample);
        }
    }
}
