// Turns weights of 8 bits back into floats, with a scale for each sixteen. Where the scales lie, in device memory or in
// the host's, is up to the caller; the kernel reads each of them once, a warp 32 neighbours at a time.

// Launch: grid weights / 4096, block 256.
extern "C" __global__ void __launch_bounds__(256)
dequantize(const uchar4* __restrict__ codes, const float* __restrict__ scales, float4* __restrict__ weights)
{
    __shared__ float block_scales[256];
    block_scales[threadIdx.x] = scales[blockIdx.x * 256 + threadIdx.x];
    __syncthreads();

    const size_t first = (size_t)blockIdx.x * 1024;
#pragma unroll
    for (int k = 0; k < 4; ++k) {
        const int i = k * 256 + threadIdx.x;  // four weights, of which four such share a scale
        const uchar4 code = codes[first + i];
        const float scale = block_scales[i / 4];
        weights[first + i] = make_float4((code.x - 128) * scale, (code.y - 128) * scale, (code.z - 128) * scale,
                                         (code.w - 128) * scale);
    }
}
