// Mean load of night buses between their stops: each line is walked to its own end.

// Launch: grid (lines), block 256.
extern "C" __global__ void mean_load(const float* __restrict__ loads, const int* __restrict__ stops, float* __restrict__ means, int longest)
{
    __shared__ float parts[256];
    const int own = stops[blockIdx.x];
    const float* of_line = loads + (size_t)blockIdx.x * longest;
    float sum = 0.0f;
    for (int stop = threadIdx.x; stop < own; stop += 256)
        sum += of_line[stop];
    parts[threadIdx.x] = sum;
    for (int half = 128; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half)
            parts[threadIdx.x] += parts[threadIdx.x + half];
    }
    if (threadIdx.x == 0)
        means[blockIdx.x] = parts[0] / own;
}
