// Scintillators of a scanner glow on after each view. Two exponentials with their own share for each channel are taken off the
// readings, view by view, and what remains is turned into attenuations. Readings and attenuations are halves; channels of all
// detector rows lie side by side, views one after another.

struct Glow {
    float fast, slow;
};

// What is left of the glow after a view, with this view's light added.
__device__ __forceinline__ Glow decay(Glow g, float light)
{
    g.fast = fmaf(g.fast, 0.42f, light);
    g.slow = fmaf(g.slow, 0.93f, light);
    return g;
}

__device__ __forceinline__ float from_half(unsigned short h)
{
    float f;
    asm("cvt.f32.f16 %0, %1;" : "=f"(f) : "h"(h));
    return f;
}

__device__ __forceinline__ unsigned short to_half(float f)
{
    unsigned short h;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(h) : "f"(f));
    return h;
}

// Launch: one thread a channel, blocks of any number of channels.
extern "C" __global__ void
deglow(const unsigned short* readings, const float2* share, unsigned short* attenuation, int channels, int views, float air)
{
    const int channel = blockIdx.x * blockDim.x + threadIdx.x;
    if (channel >= channels)
        return;

    const float2 s = share[channel];
    Glow glow = {0.0f, 0.0f};
    readings += channel;
    attenuation += channel;
#pragma unroll 2
    for (int v = 0; v < views; ++v) {
        const float light = fmaxf(from_half(*readings) - s.x * glow.fast - s.y * glow.slow, 0.001f);
        *attenuation = to_half(air - __logf(light));
        glow = decay(glow, light);
        readings += channels;
        attenuation += channels;
    }
}
