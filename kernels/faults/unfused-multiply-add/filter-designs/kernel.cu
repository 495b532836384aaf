// How much of a noise signal each of many filter designs lets through. A design is a second-order section; its
// response is run over the whole signal. APART keeps multiplications and additions apart, as code does that must
// round as a processor without multiply-add.

__device__ float multiply_add(float a, float b, float c)
{
#ifdef APART
    return __fadd_rn(__fmul_rn(a, b), c);
#else
    return fmaf(a, b, c);
#endif
}

// Launch: grid designs / 192, block 192. designs[coefficient][design].
extern "C" __global__ void __launch_bounds__(192)
pass_energy(const float* __restrict__ designs, const float4* __restrict__ signal, float* __restrict__ energies,
            int count, int samples)
{
    const int i = blockIdx.x * 192 + threadIdx.x;
    const float b0 = designs[i], b1 = designs[count + i], b2 = designs[2 * count + i];
    const float a1 = -designs[3 * count + i], a2 = -designs[4 * count + i];
    float first = 0.0f, second = 0.0f, energy = 0.0f;
#pragma unroll 2
    for (int n = 0; n < samples / 4; ++n) {
        const float4 four = signal[n];
        const float xs[4] = {four.x, four.y, four.z, four.w};
#pragma unroll
        for (int k = 0; k < 4; ++k) {
            const float x = xs[k], y = multiply_add(b0, x, first);
            first = multiply_add(a1, y, multiply_add(b1, x, second));
            second = multiply_add(a2, y, b2 * x);
            energy = multiply_add(y, y, energy);
        }
    }
    energies[i] = energy;
}
