// Light curves of a telescope's pixels, a pixel a thread, frame after frame: slow and fast running means, the largest excess of
// the fast one, and from time to time a baseline from a Chebyshev series in the slow mean, shared by all pixels.

constexpr int TERMS = 112;
constexpr int EVERY = 32;  // frames from baseline to baseline

// Launch: grid pixels / 128, block 128.
extern "C" __global__ void __launch_bounds__(128)
watch(const float* __restrict__ frames, const float* __restrict__ series, float* __restrict__ excess, int pixels, int count)
{
#ifdef OWN_SERIES
    float term[TERMS];
#pragma unroll
    for (int k = 0; k < TERMS; ++k)
        term[k] = series[k];
#else
    __shared__ float term[TERMS];
    for (int k = threadIdx.x; k < TERMS; k += 128)
        term[k] = series[k];
    __syncthreads();
#endif
    const int pixel = blockIdx.x * 128 + threadIdx.x;
    if (pixel >= pixels)
        return;
    float slow = 0.5f, fast = 0.5f, base = 0.0f, most = -1e30f;
    const float* next = frames + pixel;
    for (int first = 0; first < count; first += EVERY) {
#pragma unroll 2
        for (int f = 0; f < EVERY; ++f) {
            const float light = *next;
            next += pixels;
            fast = fmaf(0.25f, light - fast, fast);
            slow = fmaf(0.01f, light - slow, slow);
            most = fmaxf(most, fast - slow - base);
        }
        const float twice = 4.0f * slow - 2.0f;
        float b1 = 0.0f, b2 = 0.0f;
#ifdef OWN_SERIES
#pragma unroll
#else
#pragma unroll 8
#endif
        for (int k = TERMS - 1; k >= 0; --k) {
            const float b = fmaf(twice, b1, term[k] - b2);
            b2 = b1;
            b1 = b;
        }
        base = 0.01f * (b1 - 0.5f * twice * b2);
    }
    excess[pixel] = most;
}
