// Mean load of night buses between their stops: all lines are walked to the longest, and what lies behind a line's end counts nothing.

// Launch: grid (lines), block 256.
extern "C" __global__ void mean_load(const float* __restrict__ loads, const int* __restrict__ stops, float* __restrict__ means, int longest)
{
    __shared__ float parts[256];
    const int own = stops[blockIdx.x];
    const float* of_line = loads + (size_t)blockIdx.x * longest;
    float sum = 0.0f;
    for (int stop = threadIdx.x; stop < longest; stop += 256) {
        const float counts = stop < own ? 1.0f : 0.0f;
        sum = fmaf(counts, of_line[stop], sum);
    }
    parts[threadIdx.x] = sum;
    for (int half = 128; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half)
            parts[threadIdx.x] += parts[threadIdx.x + half];
    }
    if (threadIdx.x == 0)
        means[blockIdx.x] = parts[0] / own;
}
