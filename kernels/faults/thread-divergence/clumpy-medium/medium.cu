// Photons in a rod of clumpy matter, by Woodcock's tracking: free paths are drawn for the densest matter there is, and a collision
// counts with the ratio of the density where it happens. After a number of collisions the photon is tallied.

struct Photon {
    unsigned state;
    float place;      // in units of the rod, which closes on itself
    float direction;  // with the longest free path's scale
    float weight;
};

static __device__ __forceinline__ unsigned draw(Photon& p)
{
    p.state = p.state * 747796405u + 2891336453u;
    const unsigned word = ((p.state >> ((p.state >> 28) + 4)) ^ p.state) * 277803737u;
    return (word >> 22) ^ word;
}

// A flight to the next candidate; says whether it is a true collision.
static __device__ __forceinline__ bool fly(Photon& p, float dense, float thin)
{
    const float u = ((draw(p) >> 8) + 0.5f) * 5.9604645e-8f;
    const float place = __fmaf_rn(-__logf(u), p.direction, p.place);
    p.place = __fsub_rn(place, floorf(place));
    const float clump = __fmul_rn(p.place, 37.0f), inside = __fsub_rn(clump, floorf(clump));
    const float density = inside < 0.2f ? dense : thin;
    return ((draw(p) >> 8) * 5.9604645e-8f) < density;
}

static __device__ __forceinline__ void scatter(Photon& p, float albedo)
{
    p.weight = __fmul_rn(p.weight, albedo);
    p.direction = p.state & 0x40000000u ? p.direction : -p.direction;
}

// Launch: a thread a photon, block 256.
extern "C" __global__ void __launch_bounds__(256)
track(const unsigned* __restrict__ seeds, int photons, int collisions, float path, float dense, float thin, float albedo,
      float2* __restrict__ tally)
{
    const int i = blockIdx.x * 256 + threadIdx.x;
    if (i >= photons)
        return;
    Photon p = {seeds[i], 0.5f, path, 1.0f};
#ifdef PATH_BY_PATH
    for (int c = 0; c < collisions; ++c) {
        while (!fly(p, dense, thin))
            ;
        scatter(p, albedo);
    }
#else
    int left = collisions;
    do {
        if (fly(p, dense, thin)) {
            scatter(p, albedo);
            --left;
        }
    } while (left > 0);
#endif
    tally[i] = make_float2(p.place, p.weight);
}
