// Frequencies of two linked alleles in many isolated ponds. A season has 24 broods; selection turns with the season, drift comes from a
// hash of pond and brood.

struct Pond { float p, q; };

static __device__ __forceinline__ float drift(unsigned& state)
{
    state = state * 747796405u + 2891336453u;
    unsigned h = (state >> 15) ^ state;
    h *= 277803737u;
    return (float)(int)h * (1.0f / 2147483648.0f);
}

static __device__ void brood(Pond& pond, float advantage, float linkage, unsigned& state)
{
    const float p = pond.p, q = pond.q, noise = drift(state);
    const float spread = p * (1.0f - p);
    float np = __fmaf_rn(advantage * spread, 1.0f - 2.0f * q, p);
    np = __fmaf_rn(0.01f * noise, spread * rsqrtf(spread + 0.01f), np);
    const float nq = __fmaf_rn(linkage * (np - p), 1.0f - q, q);
    pond.p = fminf(fmaxf(np, 0.001f), 0.999f);
    pond.q = fminf(fmaxf(nq, 0.001f), 0.999f);
}

// Launch: a thread a pond, block 256. Seasons first .. last - 1; the state of a pond goes through `ponds`.
extern "C" __global__ void __launch_bounds__(256)
seasons(const float* __restrict__ start, float2* __restrict__ ponds, float* __restrict__ alleles, int count, int first,
        int last, int all)
{
    const int i = blockIdx.x * 256 + threadIdx.x;
    if (i >= count)
        return;
    Pond pond;
    if (first == 0) {
        pond = Pond{start[i], 0.5f};
    } else {
        const float2 kept = ponds[i];
        pond = Pond{kept.x, kept.y};
    }
    for (int season = first; season < last; ++season) {
        const float advantage = (season & 1) ? 0.03f : -0.025f;
        unsigned state = (unsigned)i * 2654435761u + (unsigned)season * 40503u;
#pragma unroll 4
        for (int b = 0; b < 24; ++b)
            brood(pond, advantage, 0.2f, state);
    }
    if (last == all)
        alleles[i] = pond.p;
    else
        ponds[i] = make_float2(pond.p, pond.q);
}
