// Signed distance fields of glyphs, whose outlines are closed polygons with the same number of corners: for each pixel the distance
// to the nearest edge, negative inside (an edge that crosses the pixel's row to its right turns the sign over).

struct Nearest {
    float square;
    bool inside;
};

static __device__ __forceinline__ void pass_edge(Nearest& n, float2 at, float2 from, float2 to)
{
    const float ex = to.x - from.x, ey = to.y - from.y;
    const float px = at.x - from.x, py = at.y - from.y;
    const float along = __saturatef(__fdividef(fmaf(px, ex, py * ey), fmaf(ex, ex, ey * ey) + 1e-6f));
    const float dx = fmaf(-along, ex, px), dy = fmaf(-along, ey, py);
    n.square = fminf(n.square, fmaf(dx, dx, dy * dy));
    const bool crosses = (from.y > at.y) != (to.y > at.y);
    const bool right = (px * ey < py * ex) == (ey > 0.0f);
    n.inside = n.inside != (crosses && right);
}

// Launch: a thread a pixel, block 32 x 6, a layer of the grid a glyph, from `first` on.
extern "C" __global__ void __launch_bounds__(192)
distance_field(const float2* __restrict__ corners, int n_corners, int width, int height, int first, float* __restrict__ field)
{
    const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 6 + threadIdx.y, glyph = first + blockIdx.z;
    if (x >= width || y >= height)
        return;
    const float2* outline = corners + (size_t)glyph * n_corners;
    const float2 at = make_float2(x + 0.5f, y + 0.5f);
    Nearest n = {1e30f, false};
    float2 from = outline[n_corners - 1];
#pragma unroll 2
    for (int c = 0; c < n_corners; ++c) {
        const float2 to = outline[c];
        pass_edge(n, at, from, to);
        from = to;
    }
    const float away = sqrtf(n.square);
    field[((size_t)glyph * height + y) * width + x] = n.inside ? -away : away;
}
