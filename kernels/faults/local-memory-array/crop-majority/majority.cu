// Crops of a classified satellite image, cleaned of stray pixels: a pixel gets the class that most of its neighbourhood has, of
// twelve classes, the lower one of equals. The neighbourhood is a square of 2 * radius + 1 (3 or 5), cut at the image's edges.

constexpr int CLASSES = 12;

#ifdef BITS
// Twelve counts of five bits.
struct Tally {
    unsigned long long counts = 0;
    __device__ void add(unsigned kind) { counts += 1ull << (5 * kind); }
    __device__ unsigned of(unsigned kind) const { return (unsigned)(counts >> (5 * kind)) & 31; }
};
#else
// A count for each class.
struct Tally {
    unsigned counts[CLASSES] = {};
    __device__ void add(unsigned kind) { ++counts[kind]; }
    __device__ unsigned of(unsigned kind) const { return counts[kind]; }
};
#endif

// Launch: grid (width / 32, height / 6), block (32, 6).
extern "C" __global__ void __launch_bounds__(192)
majority(const unsigned char* __restrict__ crops, unsigned char* __restrict__ cleaned, int width, int height, int radius)
{
    const int x = blockIdx.x * 32 + threadIdx.x;
    const int y = blockIdx.y * 6 + threadIdx.y;
    if (x >= width || y >= height)
        return;
    const int left = max(x - radius, 0), right = min(x + radius, width - 1);
    const int top = max(y - radius, 0), bottom = min(y + radius, height - 1);

    Tally tally;
    for (int v = top; v <= bottom; ++v) {
        const unsigned char* row = crops + (size_t)v * width;
        for (int u = left; u <= right; ++u)
            tally.add(row[u]);
    }

    unsigned best = 0, most = tally.of(0);
#pragma unroll
    for (unsigned kind = 1; kind < CLASSES; ++kind) {
        const unsigned count = tally.of(kind);
        if (count > most) {
            most = count;
            best = kind;
        }
    }
    cleaned[(size_t)y * width + x] = best;
}
