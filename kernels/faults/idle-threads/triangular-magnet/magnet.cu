// An antiferromagnet on a triangular lattice, heated by Glauber's rule. The lattice falls into three sublattices on which no
// two spins are neighbours; each is turned by a launch. A spin has one of four directions, neighbours at (+-1, 0), (0, +-1),
// (1, 1) and (-1, -1).

typedef unsigned char u8;

// Launch: grid sites / 16 / 256, block 256.
extern "C" __global__ void thaw(const uint4* __restrict__ before, uint4* __restrict__ spins)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    uint4 s = before[i];
    s.x &= 0x03030303u, s.y &= 0x03030303u, s.z &= 0x03030303u, s.w &= 0x03030303u;
    spins[i] = s;
}

// Ten rounds of Philox with two words (Salmon and others, 2011).
__device__ __forceinline__ uint2 philox(unsigned counter, unsigned sweep, unsigned key)
{
    unsigned a = counter, b = sweep;
#pragma unroll
    for (int round = 0; round < 10; ++round) {
        const unsigned high = __umulhi(0xd256d193u, a);
        const unsigned low = 0xd256d193u * a;
        a = high ^ key ^ b;
        b = low;
        key += 0x9e3779b9u;
    }
    return make_uint2(a, b);
}

// Launch: block (64, 4), grid over the sites or over those of a sublattice. Inner sites only: the rim stays as it is.
extern "C" __global__ void __launch_bounds__(256)
turn(u8* __restrict__ spins, int width, int height, int sublattice, unsigned key, float cold)
{
    const int y = blockIdx.y * 4 + threadIdx.y;
#ifdef EVERY_SITE
    const int x = blockIdx.x * 64 + threadIdx.x;
    if ((x + y) % 3 != sublattice)
        return;
#else
    const int x = 3 * (blockIdx.x * 64 + threadIdx.x) + (sublattice + 2 * y) % 3;
#endif
    if (x < 1 || y < 1 || x >= width - 1 || y >= height - 1)
        return;

    u8* site = spins + (size_t)y * width + x;
    const unsigned spin = *site;
    const uint2 luck = philox(y * width + x, sublattice, key);
    const unsigned wish = luck.x >> 30;
    const unsigned around[6] = {site[-1], site[1], site[-width], site[width], site[width + 1], site[-width - 1]};
    int gain = 0;
#pragma unroll
    for (int k = 0; k < 6; ++k) {
        gain += (int)((wish - around[k]) & 3u) * (int)((around[k] - wish) & 3u);
        gain -= (int)((spin - around[k]) & 3u) * (int)((around[k] - spin) & 3u);
    }
    const float chance = __fdividef(1.0f, 1.0f + __expf(-cold * gain));
    if ((luck.y >> 8) * 5.9604645e-8f < chance)
        *site = (u8)wish;
}
