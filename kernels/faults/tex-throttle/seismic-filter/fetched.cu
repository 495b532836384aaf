// A filter of 33 taps over traces laid end to end, one sample a thread, fetched through a texture.

extern "C" __global__ void __launch_bounds__(256)
filter(cudaTextureObject_t samples, const float* __restrict__ taps, float* __restrict__ filtered)
{
    const int at = blockIdx.x * 256 + threadIdx.x;
    float sum = 0.0f;
#pragma unroll 11
    for (int tap = 0; tap < 33; ++tap)
        sum = fmaf(taps[tap], tex1Dfetch<float>(samples, at + tap), sum);
    filtered[at] = sum;
}
