// A sum of harmonics, a moment a thread: one special-function instruction and a few others a term, as many as that unit
// takes.

// Launch: grid n / 384, block 384.
extern "C" __global__ void __launch_bounds__(384)
sound(const float* __restrict__ phase, float* __restrict__ wave, int harmonics)
{
    const int i = blockIdx.x * 384 + threadIdx.x;
    const float first = phase[i];
    float sum = 0.0f, angle = 0.0f, weight = 1.0f;
#pragma unroll 16
    for (int k = 0; k < harmonics; ++k) {
        angle += first;
        sum = fmaf(weight, __cosf(angle), sum);
        weight *= 0.984375f;
    }
    wave[i] = sum;
}
