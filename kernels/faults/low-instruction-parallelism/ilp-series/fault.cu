// A power series by Horner's rule, coefficients in shared memory. There are few points, so a scheduler has one warp, and
// that one waits for its own last instruction.

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
    float sum = 0.0f;
#pragma unroll 8
    for (int k = 0; k < TERMS / 4; ++k) {
        const float4 c = own[k];
        sum = fmaf(sum, at, c.x);
        sum = fmaf(sum, at, c.y);
        sum = fmaf(sum, at, c.z);
        sum = fmaf(sum, at, c.w);
    }
    values[i] = sum;
}
