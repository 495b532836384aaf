// Amplitudes that a radio interferometer would see for a model of the sky: a bright calibrator at the phase centre and 63 fainter
// point sources. A baseline a thread; the sources are staged in shared memory.

constexpr int SOURCES = 64;

__device__ __forceinline__ void phasor(float phase, float* im, float* re)
{
#ifdef LIBRARY
    sincosf(phase, im, re);
#else
    __sincosf(phase, im, re);
#endif
}

// Launch: block 320 over the baselines. A source is (2 pi l, 2 pi m, flux, unused).
extern "C" __global__ void __launch_bounds__(320)
predict(const float2* __restrict__ uv, const float4* __restrict__ sky, float* __restrict__ amplitude, int baselines,
        float calibrator)
{
    __shared__ float4 source[SOURCES];
    if (threadIdx.x < SOURCES)
        source[threadIdx.x] = sky[threadIdx.x];
    __syncthreads();

    const int b = blockIdx.x * 320 + threadIdx.x;
    if (b >= baselines)
        return;
    const float2 place = uv[b];
    float re = calibrator, im = 0.0f;
#pragma unroll 4
    for (int s = 0; s < SOURCES; ++s) {
        const float4 from = source[s];
        float sine, cosine;
        phasor(fmaf(place.x, from.x, place.y * from.y), &sine, &cosine);
        re = fmaf(from.z, cosine, re);
        im = fmaf(from.z, sine, im);
    }
    const float power = fmaf(re, re, im * im);
    amplitude[b] = power * rsqrtf(power);
}
