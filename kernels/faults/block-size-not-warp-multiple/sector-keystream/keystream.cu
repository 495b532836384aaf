// Fingerprints of a stream cipher's output: a sector of 2560 bytes takes 40 blocks of 64 bytes, each from the sector's nonce and the
// block's counter (ten double rounds of add, rotate and xor over sixteen words).

struct Key { unsigned k[8]; };

static __device__ __forceinline__ unsigned rol(unsigned x, int n) { return __funnelshift_l(x, x, n); }

static __device__ __forceinline__ void quarter(unsigned& a, unsigned& b, unsigned& c, unsigned& d)
{
    a += b; d = rol(d ^ a, 16);
    c += d; b = rol(b ^ c, 12);
    a += b; d = rol(d ^ a, 8);
    c += d; b = rol(b ^ c, 7);
}

static __device__ unsigned block_print(const Key& key, unsigned counter, uint2 nonce)
{
    const unsigned start[16] = {0x61707865u, 0x3320646eu, 0x79622d32u, 0x6b206574u,
                                key.k[0], key.k[1], key.k[2], key.k[3], key.k[4], key.k[5], key.k[6], key.k[7],
                                counter, 0u, nonce.x, nonce.y};
    unsigned s[16];
#pragma unroll
    for (int j = 0; j < 16; ++j)
        s[j] = start[j];
#pragma unroll 2
    for (int r = 0; r < 10; ++r) {
#pragma unroll
        for (int c = 0; c < 4; ++c)
            quarter(s[c], s[4 + c], s[8 + c], s[12 + c]);
#pragma unroll
        for (int c = 0; c < 4; ++c)
            quarter(s[c], s[4 + (c + 1) % 4], s[8 + (c + 2) % 4], s[12 + (c + 3) % 4]);
    }
    unsigned print = 0;
#pragma unroll
    for (int j = 0; j < 16; ++j)
        print = (print ^ (s[j] + start[j])) * (j == 15 ? 0x9e3779b1u : 1u);
    return print;
}

// Launch: any grid and block that cover sectors * 40 threads. Thread t takes block t % 40 of sector t / 40.
extern "C" __global__ void fingerprints(const unsigned* __restrict__ key, const uint2* __restrict__ nonces,
                                        unsigned* __restrict__ prints, unsigned total)
{
    const unsigned t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= total)
        return;
    Key k;
#pragma unroll
    for (int j = 0; j < 8; ++j)
        k.k[j] = key[j];
    prints[t] = block_print(k, t % 40u, nonces[t / 40u]);
}
