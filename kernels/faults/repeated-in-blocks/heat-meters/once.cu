// Readings of heat meters as shares of what a house uses: a kernel before adds up each house once.

// Launch: grid (houses), block 1024.
extern "C" __global__ void add_up(const float* __restrict__ readings, float* __restrict__ sums, int meters)
{
    __shared__ float parts[1024];
    const float* of_house = readings + (size_t)blockIdx.x * meters;
    float sum = 0.0f;
    for (int meter = threadIdx.x; meter < meters; meter += blockDim.x)
        sum += of_house[meter];
    parts[threadIdx.x] = sum;
    for (int half = 512; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half)
            parts[threadIdx.x] += parts[threadIdx.x + half];
    }
    if (threadIdx.x == 0)
        sums[blockIdx.x] = parts[0];
}

// Launch: grid (meters / 256, houses), block 256.
extern "C" __global__ void share_heat(const float* __restrict__ readings, const float* __restrict__ sums, float* __restrict__ shares, int meters)
{
    const size_t own = (size_t)blockIdx.y * meters + blockIdx.x * blockDim.x + threadIdx.x;
    shares[own] = readings[own] / sums[blockIdx.y];
}
