// A choir: which clips sound in each frame. A block mixes a frame, a thread four samples of it.

// Launch: grid (frames), block 256.
extern "C" __global__ void mix(
    const int* __restrict__ entries, const float4* __restrict__ clips, float4* __restrict__ mixed, int voices, int count)
{
    const int* of_frame = entries + (size_t)blockIdx.x * voices;
    float4 sum = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    for (int voice = 0; voice < voices; ++voice) {
        // Most voices are silent: their entry is no clip's number.
        const int clip = of_frame[voice];
        if (clip < count) {
            const float4 sample = clips[(size_t)clip * 256 + threadIdx.x];
            sum.x += sample.x;
            sum.y += sample.y;
            sum.z += sample.z;
            sum.w += sample.w;
        }
    }
    mixed[(size_t)blockIdx.x * 256 + threadIdx.x] = sum;
}
