// Seismic gathers: each trace is muted before its direct wave comes in, with a linear taper, and later samples are scaled
// up for the spreading of the wave. traces[trace][time].

__device__ float taper(float time, float onset, float length)
{
    return __saturatef(__fdividef(time - onset, length));
}

// Launch: blocks of 32 x 8 over both axes.
extern "C" __global__ void __launch_bounds__(256)
mute(const float* __restrict__ traces, const float* __restrict__ offset, float* __restrict__ muted, int count,
     int samples, float interval, float slowness)
{
#ifdef TRACE_FIRST
    const int trace = blockIdx.x * blockDim.x + threadIdx.x;
    const int sample = blockIdx.y * blockDim.y + threadIdx.y;
#else
    const int sample = blockIdx.x * blockDim.x + threadIdx.x;
    const int trace = blockIdx.y * blockDim.y + threadIdx.y;
#endif
    if (trace >= count || sample >= samples)
        return;
    const size_t at = (size_t)trace * samples + sample;
    const float time = sample * interval;
    const float weight = taper(time, offset[trace] * slowness, 0.04f) * (1.0f + time * time);
    muted[at] = traces[at] * weight;
}
