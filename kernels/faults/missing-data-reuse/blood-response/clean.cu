// Expected blood response of brain voxels to their activity, in a series of scans: the activity of the last 24 scans, weighted by a
// response that rises, falls and dips below zero. Voxels of a scan lie side by side, scans one after another. A thread takes eight
// scans of a voxel, whose activities it needs in turn.

constexpr int TAPS = 24;
constexpr int SCANS = 8;

__constant__ float response[TAPS] = {0.0000f,  0.0180f,  0.0860f,  0.1710f,  0.2190f,  0.2160f,  0.1790f,  0.1310f,
                                     0.0850f,  0.0480f,  0.0210f,  0.0030f,  -0.0090f, -0.0160f, -0.0190f, -0.0190f,
                                     -0.0180f, -0.0150f, -0.0120f, -0.0090f, -0.0070f, -0.0050f, -0.0030f, -0.0020f};

// Launch: grid (voxels / 128, scans / 8), block 128.
extern "C" __global__ void __launch_bounds__(128)
respond(const float* __restrict__ activity, float* __restrict__ signal, int voxels)
{
    const int voxel = blockIdx.x * 128 + threadIdx.x;
    const int first = blockIdx.y * SCANS;

    // From the latest activity backwards, so that each sum takes its terms in the order of the taps.
    float sum[SCANS] = {};
#pragma unroll
    for (int back = 0; back < TAPS + SCANS - 1; ++back) {
        const int scan = first + SCANS - 1 - back;
        const float a = scan >= 0 ? activity[(size_t)scan * voxels + voxel] : 0.0f;
#pragma unroll
        for (int s = 0; s < SCANS; ++s) {
            const int k = back - (SCANS - 1 - s);
            if (k >= 0 && k < TAPS)
                sum[s] = fmaf(response[k], a, sum[s]);
        }
    }
#pragma unroll
    for (int s = 0; s < SCANS; ++s)
        signal[(size_t)(first + s) * voxels + voxel] = sum[s];
}
