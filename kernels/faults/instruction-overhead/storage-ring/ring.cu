// Particles in a storage ring, turn by turn: a rotation in phase space and the kick of a sextupole. Every EVERY turns a monitor
// takes the position of each particle, as far as the monitor is on.

constexpr int EVERY = 32;

struct Lattice {
    float cosine, sine, kick;
};

__device__ __forceinline__ void turn(float2& p, const Lattice& ring)
{
    const float kicked = fmaf(ring.kick * p.x, p.x, p.y);
    const float x = fmaf(ring.cosine, p.x, ring.sine * kicked);
    p.y = fmaf(ring.cosine, kicked, -ring.sine * p.x);
    p.x = x;
}

// When the monitor writes, and where to: sample by sample, particles side by side.
struct Monitor {
    float* samples;
    long long from, to, particles;

    __device__ __forceinline__ bool on(long long t) const { return samples && t >= from && t < to && (t + 1) % EVERY == 0; }
    __device__ __forceinline__ float& place(long long t, long long i) const { return samples[t / EVERY * particles + i]; }
};

// Launch: grid over the particles, block 192. `turns` is a multiple of EVERY, and so are `from` and `to`.
extern "C" __global__ void __launch_bounds__(192)
track(const float2* __restrict__ injected, float* __restrict__ samples, float2* __restrict__ last, float cosine, float sine,
      float kick, int particles, int turns, int from, int to)
{
    const int i = blockIdx.x * 192 + threadIdx.x;
    if (i >= particles)
        return;
    const Lattice ring{cosine, sine, kick};
    const Monitor monitor{samples, from, to, particles};
    float2 p = injected[i];
#ifdef EACH_TURN
    for (long long t = 0; t < turns; ++t) {
        turn(p, ring);
        if (monitor.on(t))
            monitor.place(t, i) = p.x;
    }
#else
    for (int t = 0; t < turns; t += EVERY) {
#pragma unroll
        for (int k = 0; k < EVERY; ++k)
            turn(p, ring);
        if (monitor.on(t + EVERY - 1))
            monitor.place(t + EVERY - 1, i) = p.x;
    }
#endif
    last[i] = p;
}
