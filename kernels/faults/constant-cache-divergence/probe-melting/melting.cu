// Melting temperatures of 16-base probes, two bits a base, by nearest neighbours: enthalpy and entropy of the fifteen stacked pairs.

// kcal/mol and cal/(mol K) for pairs AA AC AG AT CA CC CG CT GA GC GG GT TA TC TG TT.
#ifdef STAGED
static __device__ const float2 stacks[16] = {
#else
static __constant__ float2 stacks[16] = {
#endif
    {-7.6f, -21.3f}, {-8.4f, -22.4f}, {-7.8f, -21.0f}, {-7.2f, -20.4f}, {-8.5f, -22.7f}, {-8.0f, -19.9f},
    {-10.6f, -27.2f}, {-7.8f, -21.0f}, {-8.2f, -22.2f}, {-9.8f, -24.4f}, {-8.0f, -19.9f}, {-8.4f, -22.4f},
    {-7.2f, -21.3f}, {-8.2f, -22.2f}, {-8.5f, -22.7f}, {-7.6f, -21.3f}};

// Launch: a thread a probe, any grid of blocks of 192 that covers them. `salt` is R ln(c / 4) and the salt correction.
extern "C" __global__ void __launch_bounds__(192)
melting(const unsigned* __restrict__ probes, float* __restrict__ kelvin, int count, float salt)
{
#ifdef STAGED
    __shared__ float2 table[16];
    if (threadIdx.x < 16)
        table[threadIdx.x] = stacks[threadIdx.x];
    __syncthreads();
#else
    const float2* const table = stacks;
#endif
    const int i = blockIdx.x * 192 + threadIdx.x;
    if (i >= count)
        return;
    const unsigned bases = probes[i];
    float enthalpy = 0.2f, entropy = -5.7f;
#pragma unroll
    for (int j = 0; j < 15; ++j) {
        const float2 pair = table[(bases >> (2 * j)) & 15u];
        enthalpy += pair.x;
        entropy += pair.y;
    }
    kelvin[i] = __fdividef(1000.0f * enthalpy, entropy + salt);
}
