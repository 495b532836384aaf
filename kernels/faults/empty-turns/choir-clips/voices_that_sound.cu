// A choir: which clips sound in each frame. A block mixes a frame, a thread four samples of it.

// Launch: grid (frames), block 256.
extern "C" __global__ void mix(
    const int* __restrict__ entries, const float4* __restrict__ clips, float4* __restrict__ mixed, int voices, int count)
{
    const int* of_frame = entries + (size_t)blockIdx.x * voices;
    float4 sum = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    for (int first = 0; first < voices; first += 32) {
        // Each lane looks at a voice; only those that sound are gone through.
        const int entry = of_frame[first + threadIdx.x % 32];
        for (unsigned sound = __ballot_sync(~0u, entry < count); sound != 0; sound &= sound - 1) {
            const int clip = __shfl_sync(~0u, entry, __ffs(sound) - 1);
            const float4 sample = clips[(size_t)clip * 256 + threadIdx.x];
            sum.x += sample.x;
            sum.y += sample.y;
            sum.z += sample.z;
            sum.w += sample.w;
        }
    }
    mixed[(size_t)blockIdx.x * 256 + threadIdx.x] = sum;
}
