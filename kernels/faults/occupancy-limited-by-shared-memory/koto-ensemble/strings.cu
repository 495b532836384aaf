// Plucked strings by a delay line with a damped mean, a string a thread. The lines are in shared memory, a string a column;
// the loudness of every window of 256 samples is kept.

constexpr int THREADS = 64;
constexpr int WINDOW = 256;

// Launch: grid strings / 64, block 64, shared memory for the longest period times 64 floats.
extern "C" __global__ void __launch_bounds__(THREADS)
pluck(const int* __restrict__ period, const float* __restrict__ damping, float* __restrict__ loudness, int strings, int windows)
{
    extern __shared__ float line[];
    const int s = blockIdx.x * THREADS + threadIdx.x;
    if (s >= strings)
        return;
    const int length = period[s];
    const float keep = 0.5f * damping[s];
    float* const own = line + threadIdx.x;

    // The noise that excites it.
    unsigned seed = 747796405u * s + 2891336453u;
    for (int n = 0; n < length; ++n) {
        seed ^= seed << 13;
        seed ^= seed >> 17;
        seed ^= seed << 5;
        own[n * THREADS] = (float)(int)seed * 4.6566129e-10f;
    }

    int at = 0;
    float here = own[0];
    for (int w = 0; w < windows; ++w) {
        float sum = 0.0f;
#pragma unroll 2
        for (int n = 0; n < WINDOW; ++n) {
            const int next = at + 1 == length ? 0 : at + 1;
            const float there = own[next * THREADS];
            const float sample = keep * (here + there);
            own[at * THREADS] = sample;
            sum = fmaf(sample, sample, sum);
            at = next;
            here = there;
        }
        loudness[(size_t)w * strings + s] = sum;
    }
}
