// Follows paths of a mean-reverting random walk. A fence after each store makes the thread wait until the whole device
// could see it, which nobody needs.

// Launch: grid paths / 384, block 384. Step t of path p lies at places[t * paths + p].
extern "C" __global__ void __launch_bounds__(384)
walk_with_fences(const float* __restrict__ starts, float* __restrict__ places, unsigned paths)
{
    const unsigned p = blockIdx.x * 384 + threadIdx.x;
    float place = starts[p];
    unsigned random = p * 2654435761u + 12345u;
    for (int t = 0; t < 64; ++t) {
        random = random * 1664525u + 1013904223u;
        const float kick = (random >> 8) * (1.0f / 8388608.0f) - 1.0f;
        place += 0.05f * (1.0f - place) + 0.1f * kick;
        places[(size_t)t * paths + p] = place;
        __threadfence();
    }
}
