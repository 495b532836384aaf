// A volume shifted by half its size along each axis. Coordinates come from a running 64-bit index by division, and wrap by
// remainders: a few hundred instructions to move a float.

// Launch: grid nx ny nz / 512, block 128: four points a thread, a quarter of the volume apart.
extern "C" __global__ void __launch_bounds__(128)
shift(const float* __restrict__ spectrum, float* __restrict__ shifted, unsigned long long nx, unsigned long long ny,
      unsigned long long nz)
{
    const unsigned long long all = nx * ny * nz;
#pragma unroll 1
    for (unsigned long long i = blockIdx.x * 128ull + threadIdx.x; i < all; i += all / 4) {
        const unsigned long long z = i / (nx * ny), y = i % (nx * ny) / nx, x = i % nx;
        const unsigned long long to = ((z + nz / 2) % nz * ny + (y + ny / 2) % ny) * nx + (x + nx / 2) % nx;
        shifted[to] = spectrum[i];
    }
}
