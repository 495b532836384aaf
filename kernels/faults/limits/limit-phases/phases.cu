// Corrects phases by a polynomial of degree 12, 40 times over. Four phases a thread and all warps that fit keep the
// pipe for fused multiply-adds full.

constexpr int PHASES = 4;
constexpr int ROUNDS = 40;

// Launch: grid phases / 1024, block 256.
extern "C" __global__ void __launch_bounds__(256)
correct(const float* __restrict__ phases, float* __restrict__ corrected)
{
    const size_t first = (size_t)blockIdx.x * 256 * PHASES + threadIdx.x;
    float x[PHASES];
#pragma unroll
    for (int k = 0; k < PHASES; ++k)
        x[k] = phases[first + k * 256];
#pragma unroll 1
    for (int round = 0; round < ROUNDS; ++round) {
        float p[PHASES];
#pragma unroll
        for (int k = 0; k < PHASES; ++k)
            p[k] = 0.03f;
#pragma unroll
        for (int degree = 11; degree >= 0; --degree)
#pragma unroll
            for (int k = 0; k < PHASES; ++k)
                p[k] = p[k] * x[k] + (degree % 2 ? 0.85f : -0.07f) / (degree + 1);
#pragma unroll
        for (int k = 0; k < PHASES; ++k)
            x[k] = p[k];
    }
#pragma unroll
    for (int k = 0; k < PHASES; ++k)
        corrected[first + k * 256] = x[k];
}
