// Walks through a large Markov chain, a warp a walk. A state's row has 32 thresholds; how many lie below a random number says
// where the walk goes on. Most walks are short, a few are long.

__device__ __forceinline__ unsigned scattered(unsigned x)
{
    x *= 2654435761u;
    x ^= x >> 15;
    return x * 2246822519u;
}

// Launch: a warp a walk, in blocks of any number of warps.
extern "C" __global__ void __launch_bounds__(1024)
walk(const unsigned* __restrict__ rows, const float* __restrict__ patience, unsigned* __restrict__ ends, int walks,
     unsigned states)
{
    const int lane = threadIdx.x % 32;
    const int w = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    if (w >= walks)
        return;
    const float p = patience[w];
    const int steps = 8 + (int)(240.0f * p * p * p);
    unsigned state = scattered(w) % states, chance = scattered(w + 12345u) | 1u;
#pragma unroll 1
    for (int s = 0; s < steps; ++s) {
        const unsigned threshold = rows[(size_t)state * 32 + lane];
        const unsigned below = __popc(__ballot_sync(~0u, threshold < (chance & 0x3fffffffu)));
        state = scattered(state * 33u + below) & (states - 1);
        chance ^= chance << 13;
        chance ^= chance >> 17;
        chance ^= chance << 5;
    }
    if (lane == 0)
        ends[w] = state;
}
