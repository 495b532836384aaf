// Values from 8-bit codes and a scale for every 32 of them. Where `scales` lies in host memory, each line of it crosses the
// bus.

// Launch: grid n / 1024, block 256: four values a thread.
extern "C" __global__ void __launch_bounds__(256)
dequantise(const unsigned char* __restrict__ codes, const float* __restrict__ scales, float* __restrict__ values)
{
    const unsigned i = blockIdx.x * 256 + threadIdx.x;
    const uchar4 code = reinterpret_cast<const uchar4*>(codes)[i];
    const float scale = scales[i / 8];
    reinterpret_cast<float4*>(values)[i] = make_float4((code.x - 128) * scale, (code.y - 128) * scale,
                                                       (code.z - 128) * scale, (code.w - 128) * scale);
}
