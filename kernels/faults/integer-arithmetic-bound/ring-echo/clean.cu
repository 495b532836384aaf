// An echo on a ring of samples: 24 taps, 8 samples apart, each weaker than the one before.
// The place of the next tap is stepped on, and wraps at the end of the ring.

constexpr int TAPS = 24;
constexpr unsigned APART = 8;

// Launch: grid ceil(count / 320), block 320.
extern "C" __global__ void __launch_bounds__(320)
echo(const float* __restrict__ ring, float* __restrict__ echoes, unsigned count)
{
    const unsigned i = blockIdx.x * 320 + threadIdx.x;
    if (i >= count)
        return;
    float sum = 0.0f;
    float weight = 1.0f;
    unsigned at = i;
#pragma unroll 4
    for (unsigned tap = 0; tap < TAPS; ++tap) {
        sum += weight * ring[at];
        weight *= 0.875f;
        at += APART;
        if (at >= count)
            at -= count;
    }
    echoes[i] = sum;
}
