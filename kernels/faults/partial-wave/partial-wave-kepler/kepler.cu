// Kepler's equation by Newton's method, a part of the planets a block. Every planet takes the same twelve steps, so blocks
// are equal and a wave of them ends together.

// Launch: any grid, block 1024.
extern "C" __global__ void __launch_bounds__(1024)
eccentric_anomaly(const float* __restrict__ mean, const float* __restrict__ eccentricity,
                  float* __restrict__ anomaly, int n)
{
    const int part = (n + gridDim.x - 1) / gridDim.x;
    const int first = blockIdx.x * part;
    const int end = min(first + part, n);
    for (int i = first + threadIdx.x; i < end; i += 1024) {
        const float m = mean[i], e = eccentricity[i];
        float guess = m;
#pragma unroll 4
        for (int step = 0; step < 12; ++step) {
            const float error = guess - e * __sinf(guess) - m;
            guess -= __fdividef(error, 1.0f - e * __cosf(guess));
        }
        anomaly[i] = guess;
    }
}
