// Energy by scale of seismograms, by the undecimated Haar transform: each level averages a sample with the one 2^level before
// it (the trace is taken as periodic), and what the average loses is that scale's energy. A block takes one trace.

#ifndef KEPT
#define KEPT 2
#endif

// Launch: grid traces, block 96, shared memory for KEPT rows of `samples` floats and three more.
extern "C" __global__ void __launch_bounds__(96)
scales(const float* __restrict__ traces, float* __restrict__ energy, int samples, int levels)
{
    extern __shared__ float rows[];
    float* partial = rows + KEPT * samples;
    const float* trace = traces + (size_t)blockIdx.x * samples;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;

    for (int i = threadIdx.x; i < samples; i += 96)
        rows[i] = trace[i];
    __syncthreads();

    for (int level = 0; level < levels; ++level) {
        const float* fine = rows + level % KEPT * samples;
        float* coarse = rows + (level + 1) % KEPT * samples;
        const int step = 1 << level;
        float sum = 0.0f;
        for (int i = threadIdx.x; i < samples; i += 96) {
            const int before = i >= step ? i - step : i - step + samples;
            const float average = 0.5f * (fine[i] + fine[before]);
            const float lost = fine[i] - average;
            coarse[i] = average;
            sum = fmaf(lost, lost, sum);
        }
        for (int d = 16; d > 0; d /= 2)
            sum += __shfl_down_sync(0xffffffffu, sum, d);
        if (lane == 0)
            partial[warp] = sum;
        __syncthreads();
        if (threadIdx.x == 0)
            energy[(size_t)blockIdx.x * levels + level] = partial[0] + partial[1] + partial[2];
        __syncthreads();
    }
}
