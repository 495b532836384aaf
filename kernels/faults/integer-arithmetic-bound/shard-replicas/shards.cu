// The shards of a database's rows: each key is mixed three times with different salts, and each mix taken modulo the number of
// shards says where a copy of the row lives. Ten bits a copy.

typedef unsigned long long u64;

__device__ __forceinline__ u64 mix(u64 key, u64 salt)
{
    key ^= salt;
    key ^= key >> 32;
    key *= 0xd6e8feb86659fd93ull;
    key ^= key >> 32;
    return key;
}

#ifdef RECIPROCAL
// Hashes modulo the shards, by a product with floor(2^64 / shards), which is short of the quotient by one at most.
struct Modulus {
    u64 shards, inverse;
    __device__ explicit Modulus(u64 n) : shards(n), inverse(~0ull / n) {}
    __device__ unsigned of(u64 hash) const
    {
        u64 rest = hash - __umul64hi(hash, inverse) * shards;
        if (rest >= shards)
            rest -= shards;
        return (unsigned)(rest >= shards ? rest - shards : rest);
    }
};
#else
struct Modulus {
    u64 shards;
    __device__ explicit Modulus(u64 n) : shards(n) {}
    __device__ unsigned of(u64 hash) const { return (unsigned)(hash % shards); }
};
#endif

// Launch: any grid, block 224.
extern "C" __global__ void __launch_bounds__(224)
place(const u64* __restrict__ keys, unsigned* __restrict__ copies, int rows, unsigned shards)
{
    const Modulus modulus(shards);
    const int stride = gridDim.x * 224;
#pragma unroll 1
    for (int i = blockIdx.x * 224 + threadIdx.x; i < rows; i += stride) {
        const u64 key = keys[i];
        const unsigned first = modulus.of(mix(key, 0x9e3779b97f4a7c15ull));
        const unsigned second = modulus.of(mix(key, 0xbf58476d1ce4e5b9ull));
        const unsigned third = modulus.of(mix(key, 0x94d049bb133111ebull));
        copies[i] = first << 20 | second << 10 | third;
    }
}
