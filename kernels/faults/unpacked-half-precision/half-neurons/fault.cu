// Leaky integrators in half precision, two a thread. One after the other is stepped by multiply-adds that use half of the
// unit.

// Launch: grid pairs / 416, block 416: two neurons a thread, in the halves of a word.
extern "C" __global__ void __launch_bounds__(416)
settle(const unsigned* __restrict__ drive, unsigned* __restrict__ state, int pairs, int steps)
{
    const int i = blockIdx.x * 416 + threadIdx.x;
    if (i >= pairs)
        return;
    const unsigned in = drive[i];
    const unsigned short leak = 0x3b80;  // 0.9375
    const unsigned short drives[2] = {(unsigned short)in, (unsigned short)(in >> 16)};
    unsigned both = 0;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
        unsigned short y = 0;
#pragma unroll 1
        for (int step = 0; step < steps; step += 32)
#pragma unroll
            for (int s = 0; s < 32; ++s)
                asm("fma.rn.f16 %0, %0, %1, %2;" : "+h"(y) : "h"(leak), "h"(drives[half]));
        both |= (unsigned)y << 16 * half;
    }
    state[i] = both;
}
