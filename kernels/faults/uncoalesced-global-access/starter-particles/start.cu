// Particles on a jittered lattice, a thread each: place, mass, velocity, charge.

__device__ unsigned mixed(unsigned x)
{
    x ^= x >> 16;
    x *= 0x7feb352du;
    x ^= x >> 15;
    x *= 0x846ca68bu;
    return x ^ (x >> 16);
}

__device__ float jitter(unsigned x) { return (float)mixed(x) * 2.3283064e-10f - 0.5f; }

extern "C" __global__ void __launch_bounds__(256)
start(float* __restrict__ particles)
{
    const unsigned i = blockIdx.x * 256 + threadIdx.x;
    const float record[8] = {(float)(i & 255) + jitter(8 * i), (float)(i >> 8 & 127) + jitter(8 * i + 1),
                             (float)(i >> 15) + jitter(8 * i + 2), 1.0f + 0.1f * jitter(8 * i + 3),
                             jitter(8 * i + 4), jitter(8 * i + 5), jitter(8 * i + 6), i & 1 ? 1.0f : -1.0f};
#ifdef BY_NUMBER
#pragma unroll
    for (int k = 0; k < 8; ++k)
        particles[8 * i + k] = record[k];
#else
    // A number more after each record, so that the banks differ.
    __shared__ float staged[256 * 9];
#pragma unroll
    for (int k = 0; k < 8; ++k)
        staged[threadIdx.x * 9 + k] = record[k];
    __syncthreads();
#pragma unroll
    for (int k = 0; k < 8; ++k) {
        const unsigned at = k * 256 + threadIdx.x;
        particles[blockIdx.x * 2048 + at] = staged[at / 8 * 9 + at % 8];
    }
#endif
}
