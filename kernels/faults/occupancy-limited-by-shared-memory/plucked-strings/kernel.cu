// Plucked strings: a delay line with a filter in its loop (Karplus, Strong 1983), one string a thread. The delay lines
// lie in shared memory, and the launch says how much of it there is for them.

// Launch: grid strings / 64, block 64, 256 bytes of shared memory for each sample of the longest delay line.
extern "C" __global__ void __launch_bounds__(64)
pluck(const unsigned char* __restrict__ periods, float* __restrict__ loudness, int samples)
{
    extern __shared__ float line[];  // sample k of this thread's string: line[64 k + thread]
    float* const own = line + threadIdx.x;
    const unsigned string = blockIdx.x * 64 + threadIdx.x;
    const int period = periods[string];

    unsigned noise = string * 2654435761u + 1;
    for (int k = 0; k < period; ++k) {
        noise = noise * 1664525u + 1013904223u;
        own[64 * k] = (noise >> 8) * (1.0f / 8388608.0f) - 1.0f;
    }

    float last = 0.0f;
    float energy = 0.0f;
    int at = 0;
#pragma unroll 1
    for (int n = 0; n < samples; ++n) {
        const float sample = own[64 * at];
        const float next = 0.4985f * (sample + last);
        own[64 * at] = next;
        energy += next * next;
        last = sample;
        at = at + 1 == period ? 0 : at + 1;
    }
    loudness[string] = energy;
}
