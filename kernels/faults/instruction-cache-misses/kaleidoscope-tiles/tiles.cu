// A floor of ornamental tiles for a game: each tile is 16 x 8 texels of one of 24 folded patterns, and a warp makes four texels a lane
// of it. A pattern folds the plane and turns it, fold after fold, and keeps how near the point came to the origin.

constexpr int FOLDS = 96;

// What the pattern with number K looks like.
template <int K> struct Pattern {
    static constexpr float cosine = 0.62f + 0.0125f * K, sine = 0.76f - 0.0125f * K;
    static constexpr float left = 0.11f + 0.003f * K, down = 0.23f - 0.004f * K;
    static constexpr float grow = 1.03f + 0.0007f * K;
};

template <int K> __device__ __noinline__ float fold(float x, float y, float decay)
{
    using P = Pattern<K>;
    float near = 1e9f, glow = 0.0f, weight = 1.0f;
#ifdef STRAIGHT
#pragma unroll
#else
#pragma unroll 4
#endif
    for (int f = 0; f < FOLDS; ++f) {
        const float u = fabsf(x) - P::left, v = fabsf(y) - P::down;
        x = P::grow * fmaf(P::cosine, u, -P::sine * v);
        y = fmaf(P::sine, u, P::cosine * v);
        const float distance = fmaf(x, x, y * y);
        near = fminf(near, distance);
        glow = fmaf(weight, fminf(distance, 1.0f), glow);
        weight *= decay;
    }
    return fmaf(0.3f, glow, near);
}

// The pattern of that number, found by halves.
template <int FROM, int COUNT> __device__ float pattern(int k, float x, float y, float decay)
{
    if constexpr (COUNT == 1)
        return fold<FROM>(x, y, decay);
    else if (k < FROM + COUNT / 2)
        return pattern<FROM, COUNT / 2>(k, x, y, decay);
    else
        return pattern<FROM + COUNT / 2, COUNT - COUNT / 2>(k, x, y, decay);
}

// Launch: grid tiles / 6, block 192.
extern "C" __global__ void __launch_bounds__(192)
lay(const unsigned char* __restrict__ design, float* __restrict__ floor, int tiles, int across, float zoom,
    float decay)
{
    const int tile = blockIdx.x * 6 + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (tile >= tiles)
        return;
    const int k = __shfl_sync(0xffffffffu, design[tile], 0);
    const int left = tile % across * 16 + lane % 16, top = tile / across * 8 + lane / 16;
#pragma unroll 1
    for (int j = 0; j < 4; ++j) {
        const int row = top + 2 * j;
        floor[(size_t)row * across * 16 + left] = pattern<0, 24>(k, zoom * (left % 97) - 0.8f, zoom * (row % 89) - 0.7f,
                                                                     decay);
    }
}
