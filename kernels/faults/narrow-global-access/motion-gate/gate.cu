// A surveillance camera's frame is gated by motion: pixels that differ from the background by more than they usually do stay, all
// others go dark. The background follows slowly, by a quarter of the difference but no more than two levels.

struct Gated {
    unsigned kept, background;
};

__device__ __forceinline__ Gated gate(int pixel, int background, int usual)
{
    const int difference = pixel - background;
    const int step = min(max(difference / 4, -2), 2);
    return {abs(difference) > usual ? (unsigned)pixel : 0u, (unsigned)(background + step)};
}

#ifdef QUADS
__device__ __forceinline__ uchar4 four(unsigned a, unsigned b, unsigned c, unsigned d)
{
    return make_uchar4(a, b, c, d);
}

// Launch: grid (width / 1024, height), block 256: four pixels of a row a thread.
extern "C" __global__ void __launch_bounds__(256)
gate_frame(const uchar4* __restrict__ frame, const uchar4* __restrict__ usual, const uchar4* __restrict__ background,
           uchar4* __restrict__ kept, uchar4* __restrict__ next, int width)
{
    const int x = blockIdx.x * 256 + threadIdx.x;
    if (x >= width / 4)
        return;
    const size_t at = (size_t)blockIdx.y * (width / 4) + x;
    const uchar4 p = frame[at], u = usual[at], b = background[at];
    const Gated g0 = gate(p.x, b.x, u.x), g1 = gate(p.y, b.y, u.y), g2 = gate(p.z, b.z, u.z), g3 = gate(p.w, b.w, u.w);
    kept[at] = four(g0.kept, g1.kept, g2.kept, g3.kept);
    next[at] = four(g0.background, g1.background, g2.background, g3.background);
}
#else
// Launch: grid (width / 256, height), block 256: a pixel of a row a thread.
extern "C" __global__ void __launch_bounds__(256)
gate_frame(const unsigned char* __restrict__ frame, const unsigned char* __restrict__ usual,
           const unsigned char* __restrict__ background, unsigned char* __restrict__ kept, unsigned char* __restrict__ next,
           int width)
{
    const int x = blockIdx.x * 256 + threadIdx.x;
    if (x >= width)
        return;
    const size_t at = (size_t)blockIdx.y * width + x;
    const Gated g = gate(frame[at], background[at], usual[at]);
    kept[at] = g.kept;
    next[at] = g.background;
}
#endif
