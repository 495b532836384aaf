// Weights of residuals by one polynomial whose coefficients are chosen, without a branch.

// Launch: grid n / 1024, block 256: four residuals a thread.
extern "C" __global__ void __launch_bounds__(256)
weigh(const float* __restrict__ residuals, const float* __restrict__ errors, float* __restrict__ weights)
{
    const unsigned first = blockIdx.x * 1024 + threadIdx.x;
    float residual[4], error[4];
#pragma unroll
    for (int j = 0; j < 4; ++j) {
        residual[j] = residuals[first + 256 * j];
        error[j] = errors[first + 256 * j];
    }
#pragma unroll
    for (int j = 0; j < 4; ++j) {
        const float z = residual[j] * error[j];
        const bool beyond = fabsf(z) > 0.75f;
        float weight = beyond ? 0.1f : 0.5f;
        const float term = beyond ? -0.2f : 0.3f;
#pragma unroll
        for (int k = 0; k < 3; ++k)
            weight = fmaf(weight, z * z, term);
        weights[first + 256 * j] = weight;
    }
}
