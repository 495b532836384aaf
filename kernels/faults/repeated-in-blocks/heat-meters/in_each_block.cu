// Readings of heat meters as shares of what a house uses: every block adds up the whole house for itself.

// Launch: grid (meters / 256, houses), block 256.
extern "C" __global__ void share_heat(const float* __restrict__ readings, float* __restrict__ shares, int meters)
{
    __shared__ float parts[256];
    const float* of_house = readings + (size_t)blockIdx.y * meters;
    float sum = 0.0f;
    for (int meter = threadIdx.x; meter < meters; meter += blockDim.x)
        sum += of_house[meter];
    parts[threadIdx.x] = sum;
    for (int half = 128; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half)
            parts[threadIdx.x] += parts[threadIdx.x + half];
    }
    __syncthreads();
    const int own = blockIdx.x * blockDim.x + threadIdx.x;
    shares[(size_t)blockIdx.y * meters + own] = of_house[own] / parts[0];
}
