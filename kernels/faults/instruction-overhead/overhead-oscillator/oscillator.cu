// Harmonic oscillators by the leapfrog method, one a thread. A step is two multiply-adds; how many the loop takes at a turn
// decides what counting costs.

// Launch: grid n / 768, block 768.
extern "C" __global__ void __launch_bounds__(768)
swing(const float* __restrict__ stiffness, float* __restrict__ place, int steps)
{
    const int i = blockIdx.x * 768 + threadIdx.x;
    const float kick = -0.01f * stiffness[i];
    float x = 1.0f, v = 0.0f;
#pragma unroll 1
    for (int turn = 0; turn < steps; turn += STEPS_A_TURN)
#pragma unroll
        for (int s = 0; s < STEPS_A_TURN; ++s) {
            v = fmaf(kick, x, v);
            x = fmaf(0.01f, v, x);
        }
    place[i] = x;
}
