// Magnitudes of asteroids from their parallaxes and phases. A block takes 2048 of them, a thread 16.
// Neighbouring lanes take neighbours, and __powf is the fast one.

constexpr int ITEMS = 16;

// Launch: grid asteroids / 2048, block 128.
extern "C" __global__ void __launch_bounds__(128)
magnitudes(const float* __restrict__ parallaxes, const float* __restrict__ phases, float* __restrict__ fluxes)
{
#pragma unroll 2
    for (int item = 0; item < ITEMS; ++item) {
        const size_t i = (size_t)blockIdx.x * 2048 + item * 128 + threadIdx.x;
        const float parallax = parallaxes[i];
        fluxes[i] = parallax * parallax * __powf(phases[i], 0.63f);
    }
}
