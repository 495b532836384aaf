// The sum of two branches of a quantised network: each 8-bit activation is brought to the common scale by a fixed-point
// multiplier, the channel's offset added, and the result rounded and held to 8 bits. Channels lie innermost.

constexpr int CHANNELS = 96;

// Launch: grid ceil(pixels / 4), block (96, 4): a row of threads takes a pixel.
extern "C" __global__ void __launch_bounds__(384)
join(const signed char* __restrict__ shortcut, const signed char* __restrict__ branch, const int* __restrict__ offset,
     signed char* __restrict__ sum, int pixels, int shortcutScale, int branchScale)
{
    const int pixel = blockIdx.x * 4 + threadIdx.y;
    if (pixel >= pixels)
        return;
    const int c = threadIdx.x;
    const size_t at = (size_t)pixel * CHANNELS + c;
    const int value = (shortcut[at] * shortcutScale + branch[at] * branchScale + offset[c]) >> 16;
    sum[at] = (signed char)max(-128, min(127, value));
}
