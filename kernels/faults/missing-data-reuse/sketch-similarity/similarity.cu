// Similarity of genomes by their sketches: a sketch has 128 smallest hashes, one for each hash function, and the similarity of
// two is how many agree. Sketches lie beside each other: sketch[hash][genome]. A thread compares SIDE x SIDE pairs.

#ifndef SIDE
#define SIDE 1
#endif

constexpr int HASHES = 128;
constexpr int GENOMES = 4096;

// Launch: block 16 x 16; grid of GENOMES / (16 SIDE) both ways.
extern "C" __global__ void __launch_bounds__(256)
similarity(const unsigned* __restrict__ asked, const unsigned* __restrict__ known, unsigned char* __restrict__ agree)
{
    const int column = blockIdx.x * 16 * SIDE + threadIdx.x;
    const int row = blockIdx.y * 16 * SIDE + threadIdx.y;
    unsigned same[SIDE][SIDE] = {};
#pragma unroll 8
    for (int h = 0; h < HASHES; ++h) {
        unsigned left[SIDE], right[SIDE];
#pragma unroll
        for (int k = 0; k < SIDE; ++k) {
            left[k] = asked[h * GENOMES + row + 16 * k];
            right[k] = known[h * GENOMES + column + 16 * k];
        }
#pragma unroll
        for (int i = 0; i < SIDE; ++i)
#pragma unroll
            for (int j = 0; j < SIDE; ++j)
                if (left[i] == right[j])
                    ++same[i][j];
    }
#pragma unroll
    for (int i = 0; i < SIDE; ++i)
#pragma unroll
        for (int j = 0; j < SIDE; ++j)
            agree[(row + 16 * i) * GENOMES + column + 16 * j] = same[i][j];
}
