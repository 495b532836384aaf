// Smoothed contrast curves of a dynamic scan. Frames follow each other in memory, a frame being a volume of voxels; each voxel's
// curve is smoothed over nine frames by a Savitzky-Golay window (quartic), the ends being held.

constexpr float W0 = 0.41724942f, W1 = 0.31468532f, W2 = 0.06993007f, W3 = -0.12820513f, W4 = 0.03496503f;

__device__ __forceinline__ float window(float a, float b, float c, float d, float e, float f, float g, float h, float i)
{
    float s = W0 * e;
    s = fmaf(W1, d + f, s);
    s = fmaf(W2, c + g, s);
    s = fmaf(W3, b + h, s);
    return fmaf(W4, a + i, s);
}

__device__ __forceinline__ int held(int frame, int frames)
{
    return min(max(frame, 0), frames - 1);
}

#ifdef FRAME_EACH
// Launch: grid (voxels / 256, frames), block 256: a voxel of a frame a thread.
extern "C" __global__ void __launch_bounds__(256)
smooth(const float* __restrict__ scan, float* __restrict__ curve, int voxels, int frames)
{
    const int v = blockIdx.x * 256 + threadIdx.x;
    const int t = blockIdx.y;
    if (v >= voxels)
        return;
    float near[9];
#pragma unroll
    for (int k = 0; k < 9; ++k)
        near[k] = scan[(size_t)held(t + k - 4, frames) * voxels + v];
    curve[(size_t)t * voxels + v] =
        window(near[0], near[1], near[2], near[3], near[4], near[5], near[6], near[7], near[8]);
}
#else
// Launch: grid (voxels / 256, frames / 16), block 256: sixteen frames of a voxel a thread.
extern "C" __global__ void __launch_bounds__(256)
smooth(const float* __restrict__ scan, float* __restrict__ curve, int voxels, int frames)
{
    const int v = blockIdx.x * 256 + threadIdx.x;
    const int first = blockIdx.y * 16;
    if (v >= voxels)
        return;
    float part[24];
#pragma unroll
    for (int k = 0; k < 24; ++k)
        part[k] = scan[(size_t)held(first + k - 4, frames) * voxels + v];
#pragma unroll
    for (int j = 0; j < 16; ++j)
        if (first + j < frames)
            curve[(size_t)(first + j) * voxels + v] =
                window(part[j], part[j + 1], part[j + 2], part[j + 3], part[j + 4], part[j + 5], part[j + 6],
                       part[j + 7], part[j + 8]);
}
#endif
