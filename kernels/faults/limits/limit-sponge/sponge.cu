// Tags of short messages by a sponge over five 64-bit lanes: a message word enters, six rounds of bitwise substitution and
// rotations mix it in, and in the end a lane is the tag. A thread follows one message.

typedef unsigned long long Word;

template <int BY>
__device__ __forceinline__ Word turned(Word x)
{
    return x >> BY | x << (64 - BY);
}

struct Sponge {
    Word a, b, c, d, e;

    __device__ __forceinline__ void round(Word constant)
    {
        c ^= constant;
        a ^= e;
        e ^= d;
        c ^= b;
        const Word p = a ^ (~b & c), q = b ^ (~c & d), r = c ^ (~d & e), s = d ^ (~e & a), t = e ^ (~a & b);
        a = p ^ t;
        b = q ^ p;
        c = ~r;
        d = s ^ r;
        e = t;
        a ^= turned<19>(a) ^ turned<28>(a);
        b ^= turned<61>(b) ^ turned<39>(b);
        c ^= turned<1>(c) ^ turned<6>(c);
        d ^= turned<10>(d) ^ turned<17>(d);
        e ^= turned<7>(e) ^ turned<41>(e);
    }
};

// Launch: grid messages / 256, block 256. Messages lie word by word.
extern "C" __global__ void __launch_bounds__(256)
tags(const uint2* __restrict__ message, uint2* __restrict__ tag, int messages, int words, unsigned key)
{
    const int i = blockIdx.x * 256 + threadIdx.x;
    if (i >= messages)
        return;
    Sponge sponge = {0x80400c0600000000ull, key, ~(Word)key, 0x243f6a8885a308d3ull, (Word)i};
    uint2 ahead = message[i];
#pragma unroll 1
    for (int w = 0; w < words; ++w) {
        const uint2 now = ahead;
        if (w + 1 < words)
            ahead = message[(size_t)(w + 1) * messages + i];
        sponge.a ^= (Word)now.y << 32 | now.x;
#pragma unroll
        for (int r = 0; r < 6; ++r)
            sponge.round(0x96 - 15 * r);
    }
#pragma unroll
    for (int r = 0; r < 12; ++r)
        sponge.round(0xf0 - 15 * r);
    tag[i] = make_uint2((unsigned)sponge.e, (unsigned)(sponge.e >> 32));
}
