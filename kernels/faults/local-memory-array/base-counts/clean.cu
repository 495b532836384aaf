// Counts the four bases of a DNA read. Each of the four counters compares the base with its own, so that all indices are
// known to the compiler and the counters stay in registers.

constexpr int WORDS = 16;  // of a read

// Launch: grid reads / 64, block 64. Word k of read r lies at words[k * reads + r].
extern "C" __global__ void __launch_bounds__(64)
count_by_comparison(const unsigned* __restrict__ words, uint4* __restrict__ counts, unsigned reads)
{
    const unsigned r = blockIdx.x * 64 + threadIdx.x;
    unsigned bases[4] = {};
#pragma unroll 1
    for (int k = 0; k < WORDS; ++k) {
        const unsigned word = words[k * reads + r];
#pragma unroll
        for (int bit = 0; bit < 32; bit += 2) {
#pragma unroll
            for (unsigned base = 0; base < 4; ++base)
                bases[base] += (word >> bit & 3u) == base;
        }
    }
    counts[r] = make_uint4(bases[0], bases[1], bases[2], bases[3]);
}
