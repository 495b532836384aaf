// Loudness of frames of sound after Zwicker: the energies in 20 critical bands (up to 6.4 kHz) spread into each other, each
// band's excitation becomes a specific loudness by a power of its ratio to the threshold, and the sum of those is the frame's.

constexpr int BANDS = 20;
constexpr int THREADS = 224;

// Two neighbouring frames' halves.
static __device__ __forceinline__ float2 from_halves(unsigned halves)
{
    float2 f;
    asm("{ .reg .b16 l, h; mov.b32 {l, h}, %2; cvt.f32.f16 %0, l; cvt.f32.f16 %1, h; }" : "=f"(f.x), "=f"(f.y) : "r"(halves));
    return f;
}

// sum + a * b
static __device__ __forceinline__ float with_product(float sum, float a, float b)
{
#ifdef ROUNDED
    return __fadd_rn(sum, __fmul_rn(a, b));
#else
    return fmaf(a, b, sum);
#endif
}

static __device__ __forceinline__ float power(float base, float exponent)
{
#ifdef LIBRARY
    return powf(base, exponent);
#else
    return __powf(base, exponent);
#endif
}

// Launch: a thread two neighbouring frames, block 224. Energies are by band, then by pair of frames.
extern "C" __global__ void __launch_bounds__(THREADS, 5)
loudness(const unsigned* __restrict__ energies, const float* __restrict__ spreading, const float* __restrict__ above_threshold,
         int pairs, float exponent, float scale, float2* __restrict__ sones)
{
    __shared__ float4 weights[BANDS][BANDS / 4];
    __shared__ float gains[BANDS];
    float* const flat = &weights[0][0].x;
#pragma unroll 1
    for (int i = threadIdx.x; i < BANDS * BANDS; i += THREADS)
        flat[i] = spreading[i];
    if (threadIdx.x < BANDS)
        gains[threadIdx.x] = above_threshold[threadIdx.x];

    const int pair = blockIdx.x * THREADS + threadIdx.x;
    float2 energy[BANDS];
#pragma unroll
    for (int k = 0; k < BANDS; ++k)
        energy[k] = from_halves(pair < pairs ? energies[(size_t)k * pairs + pair] : 0u);
    __syncthreads();
    if (pair >= pairs)
        return;

    float2 total = make_float2(0.0f, 0.0f);
#pragma unroll 1
    for (int b = 0; b < BANDS; ++b) {
        float2 excitation = make_float2(0.0f, 0.0f);
#pragma unroll
        for (int k = 0; k < BANDS; k += 4) {
            const float4 w = weights[b][k / 4];
            excitation.x = with_product(excitation.x, w.x, energy[k].x);
            excitation.y = with_product(excitation.y, w.x, energy[k].y);
            excitation.x = with_product(excitation.x, w.y, energy[k + 1].x);
            excitation.y = with_product(excitation.y, w.y, energy[k + 1].y);
            excitation.x = with_product(excitation.x, w.z, energy[k + 2].x);
            excitation.y = with_product(excitation.y, w.z, energy[k + 2].y);
            excitation.x = with_product(excitation.x, w.w, energy[k + 3].x);
            excitation.y = with_product(excitation.y, w.w, energy[k + 3].y);
        }
        total.x += power(with_product(0.5f, gains[b], excitation.x), exponent) - 1.0f;
        total.y += power(with_product(0.5f, gains[b], excitation.y), exponent) - 1.0f;
    }
    sones[pair] = make_float2(fmaxf(scale * total.x, 0.0f), fmaxf(scale * total.y, 0.0f));
}
