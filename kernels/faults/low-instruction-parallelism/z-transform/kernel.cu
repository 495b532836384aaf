// The z-transform of a long recording at real points, by Horner's rule. CHAINS is how many polynomials in z^CHAINS
// the sum is split into: with one, each multiply-add waits for the one before, and there are too few warps to fill
// the gap.

#ifndef CHAINS
#define CHAINS 1
#endif

constexpr int PIECE = 4096;  // samples in shared memory at a time

// Launch: grid points / 128, block 128. samples is a multiple of 4096; the last sample has the power 0.
extern "C" __global__ void __launch_bounds__(128)
transform(const float4* __restrict__ recording, const float* __restrict__ points, float* __restrict__ values,
          int samples)
{
    __shared__ float4 piece[PIECE / 4];
    const int i = blockIdx.x * 128 + threadIdx.x;
    const float z = points[i];
    float power = z;
#pragma unroll
    for (int k = 1; k < CHAINS; ++k)
        power *= z;
    float sums[CHAINS] = {};
#pragma unroll 1
    for (int first = 0; first < samples / 4; first += PIECE / 4) {
        __syncthreads();
#pragma unroll
        for (int k = 0; k < PIECE / 4; k += 128)
            piece[k + threadIdx.x] = recording[first + k + threadIdx.x];
        __syncthreads();
#pragma unroll 8
        for (int k = 0; k < PIECE / 4; ++k) {
            const float4 four = piece[k];
            sums[0] = sums[0] * power + four.x;
            sums[1 % CHAINS] = sums[1 % CHAINS] * power + four.y;
            sums[2 % CHAINS] = sums[2 % CHAINS] * power + four.z;
            sums[3 % CHAINS] = sums[3 % CHAINS] * power + four.w;
        }
    }
    float value = 0.0f;
#pragma unroll
    for (int k = 0; k < CHAINS; ++k)
        value = value * z + sums[k];
    values[i] = value;
}
