// Which telephone numbers might be on a leaked list? The list is known as a Bloom filter of 2^20 bits, which a block holds in shared
// memory. A number is hashed with the list's 60 bytes of salt after it, byte by byte (FNV-1a), and the digest gives two bits
// of the filter to look at.

constexpr int FILTER_WORDS = 1 << 15;
constexpr int SALT = 60;
constexpr unsigned BASIS = 2166136261u, PRIME = 16777619u;

__device__ __forceinline__ unsigned absorb(unsigned hash, unsigned byte)
{
    return (hash ^ byte) * PRIME;
}

__device__ __forceinline__ bool bit(const unsigned* filter, unsigned at)
{
    return filter[at >> 5 & FILTER_WORDS - 1] >> (at & 31) & 1;
}

__device__ __forceinline__ bool listed(const unsigned* filter, unsigned hash)
{
    return bit(filter, hash) && bit(filter, hash >> 12 ^ hash * 9);
}

__device__ __forceinline__ unsigned number_hash(unsigned number)
{
    unsigned hash = BASIS;
#pragma unroll
    for (int b = 0; b < 4; ++b)
        hash = absorb(hash, number >> 8 * b & 255);
    return hash;
}

// Launch: one block a multiprocessor, block 128, 128 KB of shared memory for the filter and 240 bytes for the salt. `each` numbers a
// thread, a multiple of 4; a warp's bit of each lane goes to a word of `hits`.
extern "C" __global__ void __launch_bounds__(128)
candidates(const uint4* __restrict__ bloom, const unsigned char* __restrict__ salt, unsigned* __restrict__ hits, unsigned first,
           int each)
{
    extern __shared__ uint4 shared[];
    const unsigned* filter = reinterpret_cast<const unsigned*>(shared);
    unsigned* tail = reinterpret_cast<unsigned*>(shared) + FILTER_WORDS;
    for (int w = threadIdx.x; w < FILTER_WORDS / 4; w += 128)
        shared[w] = bloom[w];
    if (threadIdx.x < SALT)
        tail[threadIdx.x] = salt[threadIdx.x];
    __syncthreads();

    const unsigned from = blockIdx.x * each * 128 + threadIdx.x;
    for (int n = 0; n < each; n += PER_TURN) {
        unsigned hash[PER_TURN];
#pragma unroll
        for (int j = 0; j < PER_TURN; ++j)
            hash[j] = number_hash(first + from + (n + j) * 128);
#pragma unroll 12
        for (int b = 0; b < SALT; ++b) {
            const unsigned byte = tail[b];
#pragma unroll
            for (int j = 0; j < PER_TURN; ++j)
                hash[j] = absorb(hash[j], byte);
        }
#pragma unroll
        for (int j = 0; j < PER_TURN; ++j) {
            const unsigned lanes = __ballot_sync(0xffffffffu, listed(filter, hash[j]));
            if (threadIdx.x % 32 == 0)
                hits[(from + (n + j) * 128) / 32] = lanes;
        }
    }
}
