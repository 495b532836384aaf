// Wind: the mean speed of each record and its variance. A block takes a record, a thread one sample of it.

__device__ float sum_of_block(float value) {
    __shared__ float of_warps[32];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32;
    for (int step = 16; step > 0; step /= 2)
        value += __shfl_xor_sync(~0u, value, step);
    if (lane == 0)
        of_warps[warp] = value;
    __syncthreads();
    value = lane < warps ? of_warps[lane] : 0.0f;
    for (int step = 16; step > 0; step /= 2)
        value += __shfl_xor_sync(~0u, value, step);
    __syncthreads();
    return value;
}

// Launch: grid (records), block 1024: as many threads as a record has samples.
extern "C" __global__ void gusts(const float* __restrict__ speeds, float* __restrict__ mean, float* __restrict__ variance)
{
    const float speed = speeds[(size_t)blockIdx.x * 1024 + threadIdx.x];
    const float average = sum_of_block(speed) / 1024.0f;
    const float off = speed - average;
    const float squares = sum_of_block(off * off);
    if (threadIdx.x == 0) {
        mean[blockIdx.x] = average;
        variance[blockIdx.x] = squares / 1023.0f;
    }
}
