// A forced oscillator with a stiffening spring, 25088 steps of time, each of which needs the last one.
// The loop is unrolled 1792 times, which no cache for instructions holds.

constexpr int STEPS = 25088;

// Launch: grid oscillators / 256, block 256.
extern "C" __global__ void __launch_bounds__(256)
swing(const float* __restrict__ pushes, float* __restrict__ places)
{
    const unsigned i = blockIdx.x * 256 + threadIdx.x;
    const float push = pushes[i];
    float x = 0.0f, v = 0.0f;
#pragma unroll 1792
    for (int step = 0; step < STEPS; ++step) {
        v += 0.004f * (push - x * (1.0f + x * x) - 0.3f * v);
        x += 0.004f * v;
    }
    places[i] = x;
}
