// Predators and prey (Lotka and Volterra) on many islands, in small explicit steps. AT_ONCE is how many steps the
// loop's body has: a body of many kilobytes does not fit the instruction caches, and warps wait for their code.

#ifndef AT_ONCE
#define AT_ONCE 16
#endif

// Launch: grid islands / 160, block 160. steps is a multiple of AT_ONCE.
extern "C" __global__ void __launch_bounds__(160)
breed(const float2* __restrict__ before, const float* __restrict__ length, float2* __restrict__ after, int steps)
{
    const unsigned i = blockIdx.x * 160 + threadIdx.x;
    const float h = *length;
    float2 island = before[i];
#pragma unroll 1
    for (int step = 0; step < steps; step += AT_ONCE) {
#pragma unroll
        for (int k = 0; k < AT_ONCE; ++k) {
            const float growth = 1.0f - island.y, hunger = island.x - 1.0f;
            const float prey = h * island.x, predators = h * island.y;
            island.x = prey * growth + island.x;
            island.y = predators * hunger + island.y;
        }
    }
    after[i] = island;
}
