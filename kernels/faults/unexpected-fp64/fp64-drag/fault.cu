// Falling bodies with drag, all in float, it seems: the literals are doubles.

// Launch: grid n / 352, block 352.
extern "C" __global__ void __launch_bounds__(352)
fall(const float* __restrict__ thrown, float* __restrict__ speed, int n, int steps)
{
    const int i = blockIdx.x * 352 + threadIdx.x;
    if (i >= n)
        return;
    float v = thrown[i];
#pragma unroll 8
    for (int step = 0; step < steps; ++step)
        v += 0.002 * (9.81 - 0.47 * v * fabsf(v));
    speed[i] = v;
}
