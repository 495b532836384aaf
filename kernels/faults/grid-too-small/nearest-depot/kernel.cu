// Finds the nearest of 512 depots for each customer. Each thread goes through the customers with the grid's stride, so
// that any number of blocks does the work; with fewer than the device has room for, the rest of it stands idle.

constexpr int DEPOTS = 512;

// Launch: any grid, block 256.
extern "C" __global__ void __launch_bounds__(256)
find_nearest(const float2* __restrict__ customers, const float2* __restrict__ depots, float* __restrict__ distances, int count)
{
    for (int i = blockIdx.x * 256 + threadIdx.x; i < count; i += gridDim.x * 256) {
        const float2 here = customers[i];
        float nearest = 1e30f;
#pragma unroll 8
        for (int k = 0; k < DEPOTS; ++k) {
            const float2 depot = depots[k];
            const float dx = depot.x - here.x;
            const float dy = depot.y - here.y;
            nearest = fminf(nearest, fmaf(dx, dx, dy * dy));
        }
        distances[i] = sqrtf(nearest);
    }
}
