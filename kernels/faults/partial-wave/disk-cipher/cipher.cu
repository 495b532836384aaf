// A stream cipher of additions, exclusive ors and rotations over a disk image. The image is made of stripes of 64 KiB; in a stripe
// word w of thread t's key stream meets word 1024 w + t. Each block takes an equal share of the stripes.

constexpr int DOUBLE_ROUNDS = 10;

__device__ __forceinline__ unsigned turned(unsigned x, int by)
{
    return __funnelshift_l(x, x, by);
}

__device__ __forceinline__ void mix(unsigned& a, unsigned& b, unsigned& c, unsigned& d)
{
    a += b; d = turned(d ^ a, 15);
    c += d; b = turned(b ^ c, 11);
    a += b; d = turned(d ^ a, 9);
    c += d; b = turned(b ^ c, 6);
}

// Launch: any grid, block 1024.
extern "C" __global__ void __launch_bounds__(1024)
encrypt(const unsigned* __restrict__ key, const unsigned* __restrict__ plain, unsigned* __restrict__ coded, int stripes)
{
    const int first = (int)((long long)stripes * blockIdx.x / gridDim.x);
    const int end = (int)((long long)stripes * (blockIdx.x + 1) / gridDim.x);
    for (int stripe = first; stripe < end; ++stripe) {
        unsigned start[16], s[16];
#pragma unroll
        for (int w = 0; w < 12; ++w)
            start[w] = key[w];
        start[12] = stripe;
        start[13] = threadIdx.x;
        start[14] = 0x243f6a88u;
        start[15] = 0x85a308d3u;
#pragma unroll
        for (int w = 0; w < 16; ++w)
            s[w] = start[w];
#pragma unroll 1
        for (int r = 0; r < DOUBLE_ROUNDS; ++r) {
#pragma unroll
            for (int c = 0; c < 4; ++c)
                mix(s[c], s[4 + c], s[8 + c], s[12 + c]);
#pragma unroll
            for (int c = 0; c < 4; ++c)
                mix(s[c], s[4 + (c + 1) % 4], s[8 + (c + 2) % 4], s[12 + (c + 3) % 4]);
        }
        const size_t base = (size_t)stripe * 16384 + threadIdx.x;
#pragma unroll
        for (int w = 0; w < 16; ++w)
            coded[base + 1024 * w] = plain[base + 1024 * w] ^ (s[w] + start[w]);
    }
}
