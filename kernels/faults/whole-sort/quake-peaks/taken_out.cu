// A warp takes the strongest of 128 peaks of a quake out four times.
extern "C" __global__ void strongest(const float4 *peaks, float4 *strongest_of, int quakes) {
    const int lane = threadIdx.x % 32;
    const int quake = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    if (quake >= quakes) return;
    float4 mine = peaks[(size_t)quake * 32 + lane];
    float found[4];
#pragma unroll
    for (int i = 0; i < 4; ++i) {
        const float own = fmaxf(fmaxf(mine.x, mine.y), fmaxf(mine.z, mine.w));
        float best = own;
#pragma unroll
        for (int apart = 16; apart > 0; apart /= 2)
            best = fmaxf(best, __shfl_xor_sync(~0u, best, apart));
        found[i] = best;
        // One lane takes one of several equal peaks out.
        if (lane == __ffs(__ballot_sync(~0u, own == best)) - 1) {
            if (mine.x == best) mine.x = -1;
            else if (mine.y == best) mine.y = -1;
            else if (mine.z == best) mine.z = -1;
            else mine.w = -1;
        }
    }
    if (lane == 0) strongest_of[quake] = make_float4(found[0], found[1], found[2], found[3]);
}
