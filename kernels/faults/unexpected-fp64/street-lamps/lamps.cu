// Light on the ground of a town by all of its street lamps: each lamp gives intensity * h / (distance^2 + h^2)^(3/2), h being the
// height of the lamps. LENGTH is the type of what a site's description says of the lamps.

#ifndef LENGTH
#define LENGTH float
#endif

constexpr int EACH = 2;  // points of the ground for a thread

__device__ __forceinline__ float closeness(float2 point, float4 lamp, LENGTH height)
{
    const float dx = lamp.x - point.x;
    const float dy = lamp.y - point.y;
    return rsqrtf(dx * dx + dy * dy + height * height);
}

// Launch: grid (ceil(width / 64), ceil(depth / 8)), block (32, 8).
extern "C" __global__ void __launch_bounds__(256)
illuminate(const float4* __restrict__ lamps, float* __restrict__ lux, int count, int width, int depth, float pitch, LENGTH height)
{
    const int x = blockIdx.x * 32 * EACH + threadIdx.x;
    const int y = blockIdx.y * 8 + threadIdx.y;
    if (y >= depth)
        return;

    float sum[EACH] = {};
    for (int n = 0; n < count; ++n) {
        const float4 lamp = lamps[n];
#pragma unroll
        for (int e = 0; e < EACH; ++e) {
            const float near = closeness(make_float2((x + 32 * e) * pitch, y * pitch), lamp, height);
            sum[e] = fmaf(lamp.z * near, near * near, sum[e]);
        }
    }

    const float scale = height;
#pragma unroll
    for (int e = 0; e < EACH; ++e)
        if (x + 32 * e < width)
            lux[(size_t)y * width + x + 32 * e] = sum[e] * scale;
}
