// Falling bodies with drag, all in float, the literals too.

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
        v += 0.002f * (9.81f - 0.47f * v * fabsf(v));
    speed[i] = v;
}
