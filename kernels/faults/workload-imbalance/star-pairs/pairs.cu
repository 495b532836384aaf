// Potential energy of a star cluster, every pair once: a star adds up the stars before it, in eight slices. A block has two chunks of
// 64 stars, one after the other.

constexpr int CHUNK = 64, SLICES = 8;

__device__ __forceinline__ float bound(float4 star, const float4* __restrict__ stars, int slice, int before)
{
    float sum = 0.0f;
#pragma unroll 8
    for (int j = slice; j < before; j += SLICES) {
        const float4 other = stars[j];
        const float x = other.x - star.x, y = other.y - star.y, z = other.z - star.z;
        sum = fmaf(other.w, rsqrtf(fmaf(x, x, fmaf(y, y, fmaf(z, z, 1e-4f)))), sum);
    }
    return sum;
}

// Launch: grid stars / 128, block 512.
extern "C" __global__ void __launch_bounds__(CHUNK * SLICES)
energy(const float4* __restrict__ stars, float* __restrict__ potential)
{
    __shared__ float sums[SLICES][CHUNK];
    const int own = threadIdx.x % CHUNK, slice = threadIdx.x / CHUNK;
#pragma unroll 1
    for (int part = 0; part < 2; ++part) {
#ifdef IN_ORDER
        const int chunk = 2 * blockIdx.x + part;
#else
        const int chunk = part == 0 ? blockIdx.x : 2 * gridDim.x - 1 - blockIdx.x;
#endif
        const int i = chunk * CHUNK + own;
        const float4 star = stars[i];
        sums[slice][own] = bound(star, stars, slice, i);
        __syncthreads();
        if (slice == 0) {
            float sum = 0.0f;
#pragma unroll
            for (int s = 0; s < SLICES; ++s)
                sum += sums[s][own];
            potential[i] = -star.w * sum;
        }
        __syncthreads();
    }
}
