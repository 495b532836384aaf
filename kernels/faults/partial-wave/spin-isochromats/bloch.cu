// Magnetisation of spins through a train of identical pulses: each spin has its own off-resonance and decay, and
// is rotated, turned about the axis and relaxed again and again. The blocks share the spins among themselves.

struct Spin {
    float x, y, z;
};

__device__ __forceinline__ Spin pulse(Spin m, float c, float s)
{
    return {m.x, c * m.y + s * m.z, c * m.z - s * m.y};
}

__device__ __forceinline__ Spin precess(Spin m, float c, float s, float e2, float e1)
{
    return {e2 * (c * m.x - s * m.y), e2 * (s * m.x + c * m.y), fmaf(e1, m.z - 1.0f, 1.0f)};
}

// Launch: any grid, block 1024.
extern "C" __global__ void __launch_bounds__(1024, 2)
spin_train(const float* __restrict__ offset, const float* __restrict__ decay, float2* __restrict__ signal, int spins,
           int pulses, float flip)
{
    const float cf = __cosf(flip), sf = __sinf(flip);
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < spins; i += gridDim.x * blockDim.x) {
        const float cp = __cosf(offset[i]), sp = __sinf(offset[i]);
        const float e2 = __expf(-decay[i]), e1 = __expf(-0.1f * decay[i]);
        Spin m = {0.0f, 0.0f, 1.0f};
        float2 sum = make_float2(0.0f, 0.0f);
#pragma unroll 4
        for (int p = 0; p < pulses; ++p) {
            m = pulse(m, cf, sf);
            sum.x += m.x;
            sum.y += m.y;
            m = precess(m, cp, sp, e2, e1);
        }
        signal[i] = sum;
    }
}
