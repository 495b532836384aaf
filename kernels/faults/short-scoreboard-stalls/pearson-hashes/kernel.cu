// Pearson's hash of many names, in eight passes: the next value is looked up by the last one and a character, so
// look-ups wait for each other. Each lane has a copy of the table in a bank of its own. A thread hashes its names one
// after the other, or (TOGETHER) four of them character by character, so that four look-ups are on their way.

constexpr int THREADS = 96;
constexpr int WORDS = 8;   // of a name
constexpr int PASSES = 8;  // each with another start, for four bits of the digest

__device__ unsigned look_up(const unsigned* table, unsigned hash, unsigned word, int shift)
{
    return table[(hash ^ (word >> shift & 255u)) * 32];
}

#ifdef TOGETHER
constexpr int NAMES = 4;  // at a time
#else
constexpr int NAMES = 1;
#endif

// Launch: grid names / 3072, block 96. names[word][name].
extern "C" __global__ void __launch_bounds__(THREADS)
hash_names(const unsigned* __restrict__ names, const unsigned char* __restrict__ substitutes,
           unsigned* __restrict__ hashes, int count)
{
    __shared__ unsigned copies[256 * 32];
    for (int k = threadIdx.x; k < 256 * 32; k += THREADS)
        copies[k] = substitutes[k / 32];
    __syncthreads();

    const unsigned* table = copies + threadIdx.x % 32;
    const int stride = gridDim.x * THREADS;
#pragma unroll 1
    for (int i = blockIdx.x * THREADS + threadIdx.x; i < count; i += stride * NAMES) {
        unsigned words[NAMES][WORDS], digest[NAMES] = {};
#pragma unroll
        for (int name = 0; name < NAMES; ++name)
#pragma unroll
            for (int w = 0; w < WORDS; ++w)
                words[name][w] = names[(size_t)w * count + i + name * stride];
#pragma unroll 1
        for (unsigned pass = 0; pass < PASSES; ++pass) {
            unsigned hash[NAMES];
#pragma unroll
            for (int name = 0; name < NAMES; ++name)
                hash[name] = pass;
#pragma unroll
            for (int w = 0; w < WORDS; ++w)
#pragma unroll
                for (int shift = 0; shift < 32; shift += 8)
#pragma unroll
                    for (int name = 0; name < NAMES; ++name)
                        hash[name] = look_up(table, hash[name], words[name][w], shift);
#pragma unroll
            for (int name = 0; name < NAMES; ++name)
                digest[name] = digest[name] << 4 ^ hash[name];
        }
#pragma unroll
        for (int name = 0; name < NAMES; ++name)
            hashes[i + name * stride] = digest[name];
    }
}
