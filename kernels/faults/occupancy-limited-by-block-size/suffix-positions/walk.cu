// Positions of suffixes in a genome, found by walking a compressed index from row to row. The index holds a Burrows-Wheeler
// transform, two bits a base, in chunks of 512 bases (32 words), and for each chunk how far each base's rows have been used up.
// A warp walks for one suffix: it counts the row's own base within the chunk, before the row, and goes on at that base's row.

// Launch: a warp a suffix, block of any number of warps.
extern "C" __global__ void
walk(const unsigned* __restrict__ rows, const unsigned* __restrict__ bases, const uint4* __restrict__ used,
     unsigned* __restrict__ ends, int suffixes, int steps)
{
    const int suffix = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    const unsigned lane = threadIdx.x % 32;
    if (suffix >= suffixes)
        return;
    unsigned row = rows[suffix];
#pragma unroll 1
    for (int step = 0; step < steps; ++step) {
        const unsigned chunk = row / 512, within = row % 512;
        const unsigned word = bases[(size_t)chunk * 32 + lane];
        const uint4 before = used[chunk];
        const unsigned base = __shfl_sync(~0u, word, within / 16) >> (2 * (within % 16)) & 3;

        const unsigned differs = word ^ base * 0x55555555u;
        unsigned same = ~(differs | differs >> 1) & 0x55555555u;
        const unsigned own = within / 16;
        if (lane == own)
            same &= (1u << (2 * (within % 16))) - 1;
        if (lane > own)
            same = 0;
        const unsigned count = __reduce_add_sync(~0u, __popc(same));
        const unsigned start = base < 2 ? (base == 0 ? before.x : before.y) : (base == 2 ? before.z : before.w);
        row = start + count;
    }
    if (lane == 0)
        ends[suffix] = row;
}
