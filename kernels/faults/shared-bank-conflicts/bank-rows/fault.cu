// FxHash of table rows: a warp stages 32 rows in shared memory, a lane hashes a row. Rows lie 64 words apart, so the 32
// lanes meet in one bank at every word.

constexpr int WARPS = 5;
constexpr int WORDS = 64;       // of a row
constexpr int PITCH = WORDS;      // words from one row of the tile to the next;

// Launch: grid ceil(count / 160), block (32, 5).
extern "C" __global__ void __launch_bounds__(32 * WARPS)
hash_rows(const unsigned* __restrict__ rows, unsigned* __restrict__ hashes, int count)
{
    __shared__ unsigned tiles[WARPS][32 * PITCH];
    unsigned* tile = tiles[threadIdx.y];  // a warp's own
    const int lane = threadIdx.x;
    const int first = (blockIdx.x * WARPS + threadIdx.y) * 32;
#pragma unroll 8
    for (int r = 0; r < 32; ++r)
        for (int half = 0; half < WORDS; half += 32)
            tile[r * PITCH + half + lane] = first + r < count ? rows[(size_t)(first + r) * WORDS + half + lane] : 0;
    __syncwarp();

    unsigned hash = 0;
#pragma unroll 8
    for (int w = 0; w < WORDS; ++w)
        hash = (__funnelshift_l(hash, hash, 5) ^ tile[lane * PITCH + w]) * 0x9e3779b1u;
    if (first + lane < count)
        hashes[first + lane] = hash;
}
