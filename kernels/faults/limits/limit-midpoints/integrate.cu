// Integrals of polynomials by the midpoint rule. Nothing but independent multiply-adds on registers: eight points at
// a time, a Horner scheme each.

constexpr int DEGREE = 12;
constexpr int TOGETHER = 8;

// Launch: grid polynomials / 128, block 128. coefficients[power][polynomial].
extern "C" __global__ void __launch_bounds__(128)
integrate(const float* __restrict__ coefficients, const float* __restrict__ interval, float* __restrict__ integrals,
          int count, int points)
{
    const int i = blockIdx.x * 128 + threadIdx.x;
    const float width = *interval;
    float c[DEGREE + 1];
#pragma unroll
    for (int k = 0; k <= DEGREE; ++k)
        c[k] = coefficients[(size_t)k * count + i];
    float sums[TOGETHER] = {}, xs[TOGETHER];
#pragma unroll
    for (int p = 0; p < TOGETHER; ++p)
        xs[p] = (p + 0.5f) * width;
#pragma unroll 1
    for (int point = 0; point < points; point += TOGETHER) {
        float values[TOGETHER];
#pragma unroll
        for (int p = 0; p < TOGETHER; ++p)
            values[p] = c[DEGREE];
#pragma unroll
        for (int k = DEGREE - 1; k >= 0; --k)
#pragma unroll
            for (int p = 0; p < TOGETHER; ++p)
                values[p] = values[p] * xs[p] + c[k];
#pragma unroll
        for (int p = 0; p < TOGETHER; ++p) {
            sums[p] += values[p];
            xs[p] += TOGETHER * width;
        }
    }
    float sum = 0.0f;
#pragma unroll
    for (int p = 0; p < TOGETHER; ++p)
        sum += sums[p];
    integrals[i] = sum * width;
}
