// Counts the four bases of a DNA read. The base is the index of its counter, which is known at run time only: the array
// of counters goes to local memory.

constexpr int WORDS = 16;  // of a read

// Launch: grid reads / 64, block 64. Word k of read r lies at words[k * reads + r].
extern "C" __global__ void __launch_bounds__(64)
count_by_index(const unsigned* __restrict__ words, uint4* __restrict__ counts, unsigned reads)
{
    const unsigned r = blockIdx.x * 64 + threadIdx.x;
    unsigned bases[4] = {};
#pragma unroll 1
    for (int k = 0; k < WORDS; ++k) {
        const unsigned word = words[k * reads + r];
#pragma unroll
        for (int bit = 0; bit < 32; bit += 2)
            ++bases[word >> bit & 3u];
    }
    counts[r] = make_uint4(bases[0], bases[1], bases[2], bases[3]);
}
