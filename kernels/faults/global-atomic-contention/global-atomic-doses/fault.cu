// The doses of detectors: sums of readings. Every thread adds what it read to the one sum of its detector.

// Launch: grid columns, one thread for each. The sums start from zero in every run.
extern "C" __global__ void clear(float* sums, int count)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count)
        sums[i] = 0.0f;
}

// Launch: grid (detectors, length / 16384), block 256: a block adds 16384 readings of one detector.
extern "C" __global__ void __launch_bounds__(256)
add_doses(const float* __restrict__ readings, float* sums, int length)
{
    const float* own = readings + (size_t)blockIdx.x * length + blockIdx.y * 16384 + threadIdx.x;
    float sum = 0.0f;
#pragma unroll 8
    for (int j = 0; j < 64; ++j)
        sum += own[256 * j];
    atomicAdd(&sums[blockIdx.x], sum);
}
