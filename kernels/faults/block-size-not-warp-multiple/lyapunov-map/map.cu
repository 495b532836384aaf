// A map of Lyapunov exponents of the logistic map whose growth switches between two values, those of the column and of the row,
// by a fixed word of twelve letters. The product of slopes is taken into the logarithm once a word.

constexpr unsigned WORD = 0x9d3;  // A and B, from the low bit
constexpr int LETTERS = 12;

// Launch: 2D, blocks 12 wide of any height, that cover the map.
extern "C" __global__ void
exponents(float* __restrict__ map, int width, int height, float low, float step, int words)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    const int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height)
        return;
    const float a = fmaf(step, (float)x, low), b = fmaf(step, (float)y, low);
    float p = 0.5f, sum = 0.0f;
    for (int n = 0; n < words; ++n) {
        float slope = 1.0f;
#pragma unroll
        for (int l = 0; l < LETTERS; ++l) {
            const float r = (WORD >> l) & 1 ? a : b;
            const float t = r * p;
            slope *= fmaf(-2.0f, t, r);
            p = fmaf(-t, p, t);
        }
        sum += __log2f(fabsf(slope) + 1e-20f);
    }
    map[(size_t)y * width + x] = sum / (LETTERS * words);
}
