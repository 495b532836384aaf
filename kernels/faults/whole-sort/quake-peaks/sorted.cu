// A warp sorts all 128 peaks of a quake, four per lane, and stores the first four.
constexpr int EACH = 4;

extern "C" __global__ void strongest(const float4 *peaks, float4 *strongest_of, int quakes) {
    const int lane = threadIdx.x % 32;
    const int quake = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    if (quake >= quakes) return;
    const float4 four = peaks[(size_t)quake * 32 + lane];
    float mine[EACH] = {four.x, four.y, four.z, four.w};
#pragma unroll
    for (int run = 2; run <= 32 * EACH; run *= 2) {
#pragma unroll
        for (int apart = run / 2; apart > 0; apart /= 2) {
            float other[EACH];
#pragma unroll
            for (int i = 0; i < EACH; ++i)
                other[i] = apart < EACH ? mine[i ^ (apart % EACH)]
                                        : __shfl_xor_sync(~0u, mine[i], apart / EACH);
#pragma unroll
            for (int i = 0; i < EACH; ++i) {
                const int place = lane * EACH + i;
                const bool is_first = (place & apart) == 0, falls = (place & run) == 0;
                const bool swaps = (mine[i] < other[i]) == (is_first == falls);
                mine[i] = swaps ? other[i] : mine[i];
            }
        }
    }
    if (lane == 0) strongest_of[quake] = make_float4(mine[0], mine[1], mine[2], mine[3]);
}
