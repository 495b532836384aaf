// Cost of aligning sequenced reads of 48 bases with as long windows of a genome, with gaps at any place: the usual table, row by
// row, with one row kept in shared memory. Bases are nibbles with a bit for each of A, C, G and T that they may be, eight a
// word, word by word over all pairs. What it costs to pair two bases depends on the bits they share and on the read's quality.

constexpr int BASES = 48;
constexpr int PITCH = 52;  // room for a border cell, in whole quads
constexpr int WORDS = BASES / 8;
constexpr int THREADS = 128;
constexpr int GAP = 6;

#ifdef ROW_A_THREAD
#define ROW(j) row[threadIdx.x * PITCH + (j)]
#else
#define ROW(j) row[(j) * THREADS + threadIdx.x]
#endif

// Below 16.
__device__ unsigned pairing_cost(unsigned shared_bits, int quality)
{
    const int ways = __popc(shared_bits);
    return ways == 0 ? 5 + quality / 8 : (ways - 1) * (1 + quality / 24);
}

// Launch: grid over the pairs, block 128. Qualities are below 64.
extern "C" __global__ void __launch_bounds__(THREADS)
align(const unsigned* __restrict__ reads, const unsigned* __restrict__ windows, const unsigned* __restrict__ quality,
      int* __restrict__ cost, int pairs)
{
    __shared__ int row[PITCH * THREADS];
    const int p = blockIdx.x * THREADS + threadIdx.x;
    if (p >= pairs)
        return;

    const int q = quality[p];
#ifdef TABLE
    unsigned short pairing[16];
#pragma unroll
    for (int k = 0; k < 16; ++k)
        pairing[k] = pairing_cost(k, q);
#else
    unsigned long long pairing = 0;
#pragma unroll
    for (int k = 0; k < 16; ++k)
        pairing |= (unsigned long long)pairing_cost(k, q) << 4 * k;
#endif

    unsigned window[WORDS];
#pragma unroll
    for (int w = 0; w < WORDS; ++w)
        window[w] = windows[(size_t)w * pairs + p];
#pragma unroll 1
    for (int j = 0; j < BASES; ++j)
        ROW(j) = GAP * (j + 1);

    int left = 0;
#pragma unroll 1
    for (int i = 0; i < BASES; ++i) {
        const unsigned base = reads[(size_t)(i / 8) * pairs + p] >> 4 * (i % 8) & 15;
        int diagonal = GAP * i;
        left = GAP * (i + 1);
#pragma unroll
        for (int w = 0; w < WORDS; ++w) {
            unsigned kinds = base * 0x11111111u & window[w];
#pragma unroll 4
            for (int j = 8 * w; j < 8 * w + 8; ++j) {
                const unsigned kind = kinds & 15;
                kinds >>= 4;
#ifdef TABLE
                const int change = pairing[kind];
#else
                const int change = (int)(pairing >> 4 * kind) & 15;
#endif
                const int up = ROW(j);
                left = min(diagonal + change, min(up, left) + GAP);
                ROW(j) = left;
                diagonal = up;
            }
        }
    }
    cost[p] = left;
}
