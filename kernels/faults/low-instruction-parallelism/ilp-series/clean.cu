// A power series as four series in x^4, coefficients in shared memory: four multiply-adds that don't wait for each other.

constexpr int TERMS = 12288;

// Launch: grid points / 128, block 128.
extern "C" __global__ void __launch_bounds__(128)
evaluate(const float4* __restrict__ coefficients, const float* __restrict__ x, float* __restrict__ values)
{
    __shared__ float4 own[TERMS / 4];
    for (int i = threadIdx.x; i < TERMS / 4; i += 128)
        own[i] = coefficients[i];
    __syncthreads();
    const int i = blockIdx.x * 128 + threadIdx.x;
    const float at = x[i];
    const float fourth = at * at * (at * at);
    float cubic = 0.0f, square = 0.0f, linear = 0.0f, constant = 0.0f;
#pragma unroll 8
    for (int k = 0; k < TERMS / 4; ++k) {
        const float4 c = own[k];
        cubic = fmaf(cubic, fourth, c.x);
        square = fmaf(square, fourth, c.y);
        linear = fmaf(linear, fourth, c.z);
        constant = fmaf(constant, fourth, c.w);
    }
    values[i] = fmaf(fmaf(fmaf(cubic, at, square), at, linear), at, constant);
}
