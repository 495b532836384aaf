// Leaky integrators in half precision, two a thread, stepped together by packed multiply-adds.

// Launch: grid pairs / 416, block 416: two neurons a thread, in the halves of a word.
extern "C" __global__ void __launch_bounds__(416)
settle(const unsigned* __restrict__ drive, unsigned* __restrict__ state, int pairs, int steps)
{
    const int i = blockIdx.x * 416 + threadIdx.x;
    if (i >= pairs)
        return;
    const unsigned in = drive[i];
    const unsigned leak = 0x3b803b80;  // 0.9375, twice
    unsigned both = 0;
#pragma unroll 1
    for (int step = 0; step < steps; step += 32)
#pragma unroll
        for (int s = 0; s < 32; ++s)
            asm("fma.rn.f16x2 %0, %0, %1, %2;" : "+r"(both) : "r"(leak), "r"(in));
    state[i] = both;
}
