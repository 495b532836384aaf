// Stereo music made wider or narrower: mid and side are formed, the side is scaled by the passage's width, and both are limited
// gently. A quad is two frames of left and right.

constexpr int QUADS = 384;  // a passage

__device__ __forceinline__ float2 widened(float left, float right, float width)
{
    const float mid = 0.5f * (left + right), side = 0.5f * width * (left - right);
    const float l = mid + side, r = mid - side;
    return make_float2(l * rsqrtf(fmaf(l, l, 1.0f)), r * rsqrtf(fmaf(r, r, 1.0f)));
}

// Launch: a warp a passage, block BLOCK.
extern "C" __global__ void __launch_bounds__(BLOCK)
widen(const float4* __restrict__ music, const float* __restrict__ width, float4* __restrict__ wide)
{
    constexpr int PER_WARP = 3;  // quads a lane at a time
    const int lane = threadIdx.x % 32;
    const size_t passage = (size_t)blockIdx.x * (BLOCK / 32) + threadIdx.x / 32;
    const float w = width[passage];
    const float4* const from = music + passage * QUADS + lane;
    float4* const to = wide + passage * QUADS + lane;
#pragma unroll 1
    for (int q = 0; q < QUADS; q += 32 * PER_WARP) {
        float4 frame[PER_WARP];
#pragma unroll
        for (int j = 0; j < PER_WARP; ++j)
            frame[j] = from[q + 32 * j];
#pragma unroll
        for (int j = 0; j < PER_WARP; ++j) {
            const float2 a = widened(frame[j].x, frame[j].y, w), b = widened(frame[j].z, frame[j].w, w);
            to[q + 32 * j] = make_float4(a.x, a.y, b.x, b.y);
        }
    }
}
