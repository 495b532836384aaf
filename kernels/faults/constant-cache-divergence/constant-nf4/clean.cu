// A matrix of 4-bit weights times a vector. The levels lie in global memory: one line of L1, read by all lanes together.

// The sixteen levels of NF4 (Dettmers and others, QLoRA, 2023).
__device__ const float LEVELS[16] = {
    -1.0f, -0.6961928f, -0.52507305f, -0.39491749f, -0.28444138f, -0.18477343f, -0.09105004f, 0.0f,
    0.0795803f, 0.1609302f, 0.2461123f, 0.33791524f, 0.44070983f, 0.562617f, 0.72295684f, 1.0f,
};

// Launch: grid rows / 4, block 128: a warp a row. A row has 8 * `words` weights.
extern "C" __global__ void __launch_bounds__(128)
multiply(const unsigned* __restrict__ weights, const float4* __restrict__ x, float* __restrict__ y, int words)
{
    const int row = blockIdx.x * 4 + threadIdx.x / 32;
    const int lane = threadIdx.x % 32;
    float sum = 0.0f;
#pragma unroll 2
    for (int w = lane; w < words; w += 32) {
        const unsigned eight = weights[(size_t)row * words + w];
        const float4 low = x[2 * w], high = x[2 * w + 1];
        sum = fmaf(LEVELS[eight & 15], low.x, sum);
        sum = fmaf(LEVELS[eight >> 4 & 15], low.y, sum);
        sum = fmaf(LEVELS[eight >> 8 & 15], low.z, sum);
        sum = fmaf(LEVELS[eight >> 12 & 15], low.w, sum);
        sum = fmaf(LEVELS[eight >> 16 & 15], high.x, sum);
        sum = fmaf(LEVELS[eight >> 20 & 15], high.y, sum);
        sum = fmaf(LEVELS[eight >> 24 & 15], high.z, sum);
        sum = fmaf(LEVELS[eight >> 28], high.w, sum);
    }
    for (int offset = 16; offset > 0; offset /= 2)
        sum += __shfl_xor_sync(~0u, sum, offset);
    if (lane == 0)
        y[row] = sum;
}
