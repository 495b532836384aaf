// Counts the events of user sessions by kind, a warp for each session; each lane has counters of its own in shared memory.
// Most sessions are short, some are long: the counters of warps that are done early stay until the last of their block is.

#ifndef WARPS
#define WARPS 2
#endif

constexpr int KINDS = 24;

// Launch: grid sessions / WARPS, block 32 * WARPS.
extern "C" __global__ void __launch_bounds__(32 * WARPS)
count_events(const unsigned* __restrict__ starts, const int* __restrict__ lengths, const unsigned* __restrict__ events,
             unsigned* __restrict__ counts)
{
    __shared__ unsigned counters[WARPS][KINDS][32];
    const unsigned lane = threadIdx.x % 32;
    const unsigned session = blockIdx.x * WARPS + threadIdx.x / 32;
    unsigned (*own)[32] = counters[threadIdx.x / 32];
#pragma unroll
    for (int kind = 0; kind < KINDS; ++kind)
        own[kind][lane] = 0;
    const unsigned* event = events + starts[session] * 32 + lane;
    const int length = lengths[session];
#pragma unroll 1
    for (int k = 0; k < length; ++k)
        ++own[event[k * 32]][lane];
    __syncwarp();
    if (lane < KINDS) {
        unsigned count = 0;
        // Each lane begins elsewhere, so that no two meet in a bank.
#pragma unroll 8
        for (int k = 0; k < 32; ++k)
            count += own[lane][(lane + k) % 32];
        counts[session * KINDS + lane] = count;
    }
}
