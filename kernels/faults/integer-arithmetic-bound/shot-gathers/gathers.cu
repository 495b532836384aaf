// A land survey's traces, recorded shot by shot, are put in order of their receivers and levelled by the strength of each shot.
// Samples of a trace stay together; lines of receivers, receivers, shots and samples are all known at the launch only.

struct Survey {
    int samples, shots, receivers, lines;
};

// In: shot, line, receiver, sample. Out: line, receiver, shot, sample.
__device__ __forceinline__ long long recorded_at(const Survey& s, long long shot, long long string, long long sample)
{
    return (shot * (s.lines * s.receivers) + string) * s.samples + sample;
}

#ifdef FLAT
// Launch: grid over all samples, block 256.
extern "C" __global__ void __launch_bounds__(256)
by_receiver(const float* __restrict__ recorded, const float* __restrict__ level, float* __restrict__ gathers, int samples,
            int shots, int receivers, int lines)
{
    const Survey s{samples, shots, receivers, lines};
    const long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    const long long total = (long long)samples * shots * receivers * lines;
    if (i >= total)
        return;
    const long long trace = i / s.samples;
    const long long sample = i % s.samples;
    const long long shot = trace % s.shots;
    const long long receiver = trace / s.shots % s.receivers;
    const long long line = trace / s.shots / s.receivers;
    gathers[i] = recorded[recorded_at(s, shot, line * s.receivers + receiver, sample)] * level[shot];
}
#else
// Launch: grid (samples / 256, shots, lines * receivers), block 256.
extern "C" __global__ void __launch_bounds__(256)
by_receiver(const float* __restrict__ recorded, const float* __restrict__ level, float* __restrict__ gathers, int samples,
            int shots, int receivers, int lines)
{
    const Survey s{samples, shots, receivers, lines};
    const int sample = blockIdx.x * 256 + threadIdx.x;
    if (sample >= s.samples)
        return;
    const int shot = blockIdx.y, string = blockIdx.z;
    gathers[((long long)string * s.shots + shot) * s.samples + sample] =
        recorded[recorded_at(s, shot, string, sample)] * level[shot];
}
#endif
