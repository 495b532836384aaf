// Noise by a hash of the site's number, EACH sites a thread, a grid apart.

__device__ float hashed(unsigned site)
{
    site ^= site >> 16;
    site *= 0x7feb352du;
    site ^= site >> 15;
    site *= 0x846ca68bu;
    site ^= site >> 16;
    return (float)site * 2.3283064e-10f;
}

extern "C" __global__ void __launch_bounds__(64)
noise_of(float* __restrict__ noise, unsigned sites)
{
    const unsigned step = gridDim.x * 64;
    unsigned site = blockIdx.x * 64 + threadIdx.x;
    for (int i = 0; i < EACH && site < sites; ++i, site += step)
        noise[site] = hashed(site);
}
