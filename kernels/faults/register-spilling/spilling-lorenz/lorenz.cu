// An ensemble of Lorenz-96 systems (Lorenz, Predictability, 1996), a member a thread, the 24 variables in registers. With
// 32 registers for two sets of them the compiler has to spill.

constexpr int V = 24;

__device__ void slopes(const float (&x)[V], float (&slope)[V])
{
#pragma unroll
    for (int i = 0; i < V; ++i)
        slope[i] = (x[(i + 1) % V] - x[(i + V - 2) % V]) * x[(i + V - 1) % V] - x[i] + 8.0f;
}

// Launch: grid members / 128, block 128.
extern "C" __global__ void
integrate(const float* __restrict__ initial, float* __restrict__ final, int members, int steps)
{
    const int member = blockIdx.x * 128 + threadIdx.x;
    float x[V], slope[V];
#pragma unroll
    for (int i = 0; i < V; ++i)
        x[i] = initial[i * members + member];
#pragma unroll 1
    for (int step = 0; step < steps; ++step) {
        float middle[V];
        slopes(x, slope);
#pragma unroll
        for (int i = 0; i < V; ++i)
            middle[i] = x[i] + 0.0025f * slope[i];
        slopes(middle, slope);
#pragma unroll
        for (int i = 0; i < V; ++i)
            x[i] += 0.005f * slope[i];
    }
#pragma unroll
    for (int i = 0; i < V; ++i)
        final[i * members + member] = x[i];
}
