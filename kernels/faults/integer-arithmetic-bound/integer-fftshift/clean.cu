// A volume shifted by half its size along each axis. The grid has three axes, so the coordinates are there, and wrap by a
// comparison.

__device__ unsigned wrapped(unsigned place, unsigned size)
{
    return place < size ? place : place - size;
}

// Launch: grid (nx / 128, ny, nz / 4), block 128: four points a thread, a quarter of the volume apart.
extern "C" __global__ void __launch_bounds__(128)
shift(const float* __restrict__ spectrum, float* __restrict__ shifted, unsigned nx, unsigned ny, unsigned nz)
{
    const unsigned x = blockIdx.x * 128 + threadIdx.x, y = blockIdx.y;
#pragma unroll 1
    for (unsigned z = blockIdx.z; z < nz; z += nz / 4) {
        const unsigned to_row = wrapped(z + nz / 2, nz) * ny + wrapped(y + ny / 2, ny);
        shifted[(unsigned long long)to_row * nx + wrapped(x + nx / 2, nx)] =
            spectrum[(unsigned long long)(z * ny + y) * nx + x];
    }
}
