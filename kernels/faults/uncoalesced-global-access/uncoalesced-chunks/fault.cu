// MurmurHash3's finalizer over an array of keys. Each thread owns 24 consecutive keys, so a warp's accesses lie 96
// bytes apart: nearly as many lines as lanes.

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
    const unsigned first = (blockIdx.x * 192 + threadIdx.x) * 24;  // the thread's own run
#pragma unroll 4
    for (unsigned j = 0; j < 24; ++j) {
        const unsigned i = first + j;
        if (i < n)
            hashes[i] = mixed(keys[i]);
    }
}
