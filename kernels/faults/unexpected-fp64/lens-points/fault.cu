// Undistorts image points of a camera with radial and tangential distortion, by fixed-point iteration of the forward model.

struct Lens {
    float k1, k2, k3, p1, p2;
};

__device__ float2 undistort(float2 seen, const Lens& lens, int rounds)
{
    float x = seen.x, y = seen.y;
    for (int round = 0; round < rounds; ++round) {
        const float r2 = x * x + y * y;
        const float inverse = __fdividef(1.0f, 1.0 + r2 * (lens.k1 + r2 * (lens.k2 + r2 * lens.k3)));
        const float dx = 2.0 * lens.p1 * x * y + lens.p2 * (r2 + 2.0 * x * x);
        const float dy = 2.0 * lens.p2 * x * y + lens.p1 * (r2 + 2.0 * y * y);
        x = (seen.x - dx) * inverse;
        y = (seen.y - dy) * inverse;
    }
    return make_float2(x, y);
}

// Launch: any grid, block 192.
extern "C" __global__ void __launch_bounds__(192)
undistort_points(const float2* __restrict__ seen, float2* __restrict__ ideal, int n, float k1, float k2, float k3, float p1,
                 float p2, int rounds)
{
    const Lens lens{k1, k2, k3, p1, p2};
    for (int i = blockIdx.x * 192 + threadIdx.x; i < n; i += gridDim.x * 192)
        ideal[i] = undistort(seen[i], lens, rounds);
}
