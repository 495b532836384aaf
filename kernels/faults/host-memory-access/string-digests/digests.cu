// Digests of a column of short strings, which lie in slots of 64 bytes and are as long as `lengths` says. Four lanes share a string,
// with 16 bytes each, and put their parts together at the end.

static __device__ __forceinline__ unsigned mix(unsigned h, unsigned word)
{
    word *= 0xcc9e2d51u;
    word = __funnelshift_l(word, word, 15) * 0x1b873593u;
    h ^= word;
    return __funnelshift_l(h, h, 13) * 5u + 0xe6546b64u;
}

// The word's bytes that belong to the string: `left` of them, which may be any number.
static __device__ __forceinline__ unsigned within(unsigned word, int left)
{
    return left >= 4 ? word : left <= 0 ? 0u : word & ((1u << 8 * left) - 1u);
}

// Launch: four threads a string, block 320.
extern "C" __global__ void __launch_bounds__(320)
digest(const uint4* __restrict__ text, const unsigned char* __restrict__ lengths, unsigned strings, unsigned seed,
       unsigned* __restrict__ digests)
{
    const unsigned thread = blockIdx.x * 320 + threadIdx.x;
    const unsigned string = thread / 4, part = thread % 4;
    const bool there = string < strings;
    const int length = there ? lengths[string] : 0;
    const uint4 words = there ? text[thread] : make_uint4(0, 0, 0, 0);

    const int left = length - 16 * (int)part;
    unsigned h = seed ^ (part * 0x9e3779b9u);
    h = mix(h, within(words.x, left));
    h = mix(h, within(words.y, left - 4));
    h = mix(h, within(words.z, left - 8));
    h = mix(h, within(words.w, left - 12));
    h = left > 0 ? h : 0u;

    h += (__shfl_xor_sync(0xffffffffu, h, 1) << 7) ^ (unsigned)length;
    h ^= __shfl_xor_sync(0xffffffffu, h, 2) * 0x85ebca6bu;
    h ^= h >> 16;
    h *= 0xc2b2ae35u;
    if (there && part == 0)
        digests[string] = h ^ (h >> 13);
}
