// Expected blood response of brain voxels to their activity, in a series of scans: the activity of the last 24 scans, weighted by a
// response that rises, falls and dips below zero. Voxels of a scan lie side by side, scans one after another.

constexpr int TAPS = 24;

__constant__ float response[TAPS] = {0.0000f,  0.0180f,  0.0860f,  0.1710f,  0.2190f,  0.2160f,  0.1790f,  0.1310f,
                                     0.0850f,  0.0480f,  0.0210f,  0.0030f,  -0.0090f, -0.0160f, -0.0190f, -0.0190f,
                                     -0.0180f, -0.0150f, -0.0120f, -0.0090f, -0.0070f, -0.0050f, -0.0030f, -0.0020f};

// Launch: grid (voxels / 128, scans), block 128.
extern "C" __global__ void __launch_bounds__(128)
respond(const float* __restrict__ activity, float* __restrict__ signal, int voxels)
{
    const int voxel = blockIdx.x * 128 + threadIdx.x;
    const int scan = blockIdx.y;

    float sum = 0.0f;
#pragma unroll
    for (int k = 0; k < TAPS; ++k) {
        const float a = scan >= k ? activity[(size_t)(scan - k) * voxels + voxel] : 0.0f;
        sum = fmaf(response[k], a, sum);
    }
    signal[(size_t)scan * voxels + voxel] = sum;
}
