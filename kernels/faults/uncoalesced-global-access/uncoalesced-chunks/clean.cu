// MurmurHash3's finalizer over an array of keys. A block owns 4608 consecutive keys and hashes 192 neighbours at a
// time, so a warp's accesses are whole lines.

__device__ unsigned mixed(unsigned h)
{
    h ^= h >> 16;
    h *= 0x85ebca6bu;
    h ^= h >> 13;
    h *= 0xc2b2ae35u;
    return h ^ h >> 16;
}

// Launch: grid ceil(n / (192 * 24)), block 192.
extern "C" __global__ void __launch_bounds__(192) hash_keys(const unsigned* keys, unsigned* hashes, unsigned n)
{
    const unsigned first = blockIdx.x * (192 * 24) + threadIdx.x;  // of every 192nd
#pragma unroll 4
    for (unsigned j = 0; j < 24; ++j) {
        const unsigned i = first + j * 192;
        if (i < n)
            hashes[i] = mixed(keys[i]);
    }
}
