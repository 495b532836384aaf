// Spiking neurons (Izhikevich, 2003), one a thread: as many steps a launch as the launch asks for.

// Launch: grid over the neurons, block 160. Steps first .. first + count - 1 of `all`.
extern "C" __global__ void __launch_bounds__(160)
step(const float* __restrict__ input, float* __restrict__ potential, float* __restrict__ recovery,
     float* __restrict__ last, int n, int first, int count, int all)
{
    const int i = blockIdx.x * 160 + threadIdx.x;
    if (i >= n)
        return;
    const float current = input[i];
    float v = first == 0 ? -65.0f : potential[i];
    float u = first == 0 ? -13.0f : recovery[i];
    for (int s = 0; s < count; ++s) {
        v = __fmaf_rn(0.5f, __fmaf_rn(__fmaf_rn(0.04f, v, 5.0f), v, 140.0f - u + current), v);
        u = __fmaf_rn(0.02f, __fmaf_rn(0.2f, v, -u), u);
        if (v >= 30.0f) {
            v = -65.0f;
            u += 8.0f;
        }
    }
    if (first + count == all) {
        last[i] = v;
    } else {
        potential[i] = v;
        recovery[i] = u;
    }
}
