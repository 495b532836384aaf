// A long electrocardiogram as it was recorded, twelve leads a sample, is parted into a trace for each lead in millivolts.

constexpr int LEADS = 12, SAMPLES = 192;  // of a block

// Launch: grid ceil(samples / 192), block 192, shared memory for 192 rows of `pitch` floats, of which twelve are used.
extern "C" __global__ void __launch_bounds__(SAMPLES)
part(const float* __restrict__ recorded, float* __restrict__ traces, int samples, float gain, int pitch)
{
    extern __shared__ float tile[];
    const int first = blockIdx.x * SAMPLES;
    const int here = min(samples - first, SAMPLES);
    const float* source = recorded + (size_t)first * LEADS;

    // 192 threads are sixteen rows of twelve.
    float* corner = tile + threadIdx.x / LEADS * pitch + threadIdx.x % LEADS;
#pragma unroll
    for (int k = 0; k < LEADS; ++k) {
        const int i = k * SAMPLES + threadIdx.x;
        corner[k * (SAMPLES / LEADS) * pitch] = i < here * LEADS ? source[i] : 0.0f;
    }
    __syncthreads();

    if (threadIdx.x < here) {
        const float* row = tile + threadIdx.x * pitch;
        float* trace = traces + first + threadIdx.x;
#pragma unroll
        for (int lead = 0; lead < LEADS; ++lead)
            trace[(size_t)lead * samples] = gain * row[lead];
    }
}
