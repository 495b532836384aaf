// Follows an epidemic in each county: susceptible and infected people, Heun's method. A thread takes one county after
// another; how many threads there are is up to the launch.

constexpr int STEPS = 400;
constexpr float H = 0.05f;      // days a step
constexpr float RECOVER = 0.2f;  // a day

// Launch: any grid of blocks of 1024.
extern "C" __global__ void __launch_bounds__(1024)
spread(const float* __restrict__ rates, float* __restrict__ infected, unsigned counties)
{
    for (unsigned c = blockIdx.x * 1024 + threadIdx.x; c < counties; c += gridDim.x * 1024) {
        const float rate = rates[c];
        float s = 0.999f;
        float i = 0.001f;
#pragma unroll 4
        for (int step = 0; step < STEPS; ++step) {
            const float caught = rate * s * i;
            const float left = RECOVER * i;
            const float s1 = s - H * caught;
            const float i1 = i + H * (caught - left);
            const float caught1 = rate * s1 * i1;
            const float left1 = RECOVER * i1;
            s -= 0.5f * H * (caught + caught1);
            i += 0.5f * H * (caught + caught1 - left - left1);
        }
        infected[c] = i;
    }
}
