// Well logs: each record, an outlier cut off, as deviations from its mean in units of their spread. A block takes a record, a thread
// 16 samples of it, as four times four neighbours.

__device__ float sum_of_block(float value) {
    __shared__ float of_warps[8];
    for (int step = 16; step > 0; step /= 2)
        value += __shfl_xor_sync(~0u, value, step);
    if (threadIdx.x % 32 == 0)
        of_warps[threadIdx.x / 32] = value;
    __syncthreads();
    value = 0.0f;
#pragma unroll
    for (int warp = 0; warp < 8; ++warp)
        value += of_warps[warp];
    __syncthreads();
    return value;
}

// Launch: grid (records), block 256.
extern "C" __global__ void standardize(const float4* samples, float4* standard)
{
    const size_t first = (size_t)blockIdx.x * 1024 + threadIdx.x;
    float sum = 0.0f, squares = 0.0f;
#pragma unroll
    for (int k = 0; k < 4; ++k) {
        const float4 s = samples[first + 256 * k];
        sum += s.x + s.y + s.z + s.w;
    }
    const float mean = sum_of_block(sum) / 4096.0f;
    // Behind the barriers, the samples are loaded again, twice.
#pragma unroll
    for (int k = 0; k < 4; ++k) {
        const float4 s = samples[first + 256 * k];
        const float a = s.x - mean, b = s.y - mean, c = s.z - mean, d = s.w - mean;
        squares += a * a + b * b + c * c + d * d;
    }
    const float scale = rsqrtf(sum_of_block(squares) / 4096.0f);
#pragma unroll
    for (int k = 0; k < 4; ++k) {
        const float4 s = samples[first + 256 * k];
        standard[first + 256 * k] = make_float4(
            fminf((s.x - mean) * scale, 3.0f), fminf((s.y - mean) * scale, 3.0f),
            fminf((s.z - mean) * scale, 3.0f), fminf((s.w - mean) * scale, 3.0f));
    }
}
