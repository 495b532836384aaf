// Snow: the share of each region's trial flakes that stay. A flake stays where a random number is below its cell's chance.
// A call of the generator per four flakes.

__device__ uint4 philox(unsigned a, unsigned b, unsigned c, unsigned d, unsigned key, unsigned other)
{
#pragma unroll
    for (int round = 0; round < 10; ++round) {
        const unsigned upper = __umulhi(a, 0xd2511f53u), lower = a * 0xd2511f53u;
        const unsigned second = __umulhi(c, 0xcd9e8d57u), under = c * 0xcd9e8d57u;
        a = second ^ b ^ key;
        b = under;
        c = upper ^ d ^ other;
        d = lower;
        key += 0x9e3779b9u;
        other += 0xbb67ae85u;
    }
    return make_uint4(a, b, c, d);
}

// Launch: grid (regions), block 256.
extern "C" __global__ void settle(
    const unsigned* __restrict__ chance, float* __restrict__ cover, unsigned cells, unsigned seed)
{
    __shared__ unsigned of_warps[8];
    unsigned count = 0;
    for (unsigned i = threadIdx.x; i < cells; i += 256) {
        const unsigned cell = blockIdx.x * cells + i, limit = chance[cell];
#pragma unroll
        for (unsigned four = 0; four < 4; ++four) {
            const uint4 word = philox(cell, four, 0, seed, seed, 1);
            count += (word.x < limit) + (word.y < limit) + (word.z < limit) + (word.w < limit);
        }
    }
    count = __reduce_add_sync(~0u, count);
    if (threadIdx.x % 32 == 0)
        of_warps[threadIdx.x / 32] = count;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int warp = 1; warp < 8; ++warp)
            count += of_warps[warp];
        cover[blockIdx.x] = count / (16.0f * cells);
    }
}
