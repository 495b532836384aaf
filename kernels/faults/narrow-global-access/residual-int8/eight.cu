// The sum of two branches of a quantised network: each 8-bit activation is brought to the common scale by a fixed-point
// multiplier, the channel's offset added, and the result rounded and held to 8 bits. Channels lie innermost; a thread takes
// eight of them.

constexpr int CHANNELS = 96;

__device__ __forceinline__ unsigned narrow(unsigned s, unsigned b, int4 offset, int shortcutScale, int branchScale)
{
    unsigned packed = 0;
    const int own[4] = {offset.x, offset.y, offset.z, offset.w};
#pragma unroll
    for (int k = 0; k < 4; ++k) {
        const int value = ((signed char)(s >> 8 * k) * shortcutScale + (signed char)(b >> 8 * k) * branchScale + own[k]) >> 16;
        packed |= (unsigned)(max(-128, min(127, value)) & 255) << 8 * k;
    }
    return packed;
}

// Launch: grid ceil(pixels / 32), block (12, 32): a row of threads takes a pixel.
extern "C" __global__ void __launch_bounds__(384)
join(const signed char* __restrict__ shortcut, const signed char* __restrict__ branch, const int* __restrict__ offset,
     signed char* __restrict__ sum, int pixels, int shortcutScale, int branchScale)
{
    const int pixel = blockIdx.x * 32 + threadIdx.y;
    if (pixel >= pixels)
        return;
    const int c = 8 * threadIdx.x;
    const size_t at = (size_t)pixel * CHANNELS + c;
    const uint2 s = *reinterpret_cast<const uint2*>(shortcut + at);
    const uint2 b = *reinterpret_cast<const uint2*>(branch + at);
    const int4* o = reinterpret_cast<const int4*>(offset + c);
    *reinterpret_cast<uint2*>(sum + at) = make_uint2(narrow(s.x, b.x, o[0], shortcutScale, branchScale),
                                                     narrow(s.y, b.y, o[1], shortcutScale, branchScale));
}
