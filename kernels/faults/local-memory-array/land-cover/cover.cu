// Smoothing of a map of land cover: each cell takes the class that most of the 25 cells around it have (of equals, the first).
// Cells beyond the edge are those on it.

constexpr int CLASSES = 6;
constexpr int REACH = 2;

// Launch: block 32 x 6, grid over the map. Classes are below 6.
extern "C" __global__ void __launch_bounds__(192)
majority(const unsigned char* __restrict__ map, unsigned char* __restrict__ smooth, int width, int height)
{
    const int x = blockIdx.x * 32 + threadIdx.x;
    const int y = blockIdx.y * 6 + threadIdx.y;
    if (x >= width || y >= height)
        return;

#ifdef OWN
    int votes[CLASSES] = {};
#define VOTES(c) votes[c]
#else
    __shared__ int votes[CLASSES][192];
    const int thread = threadIdx.y * 32 + threadIdx.x;
#define VOTES(c) votes[c][thread]
#pragma unroll
    for (int c = 0; c < CLASSES; ++c)
        VOTES(c) = 0;
#endif

#pragma unroll
    for (int dy = -REACH; dy <= REACH; ++dy) {
        const unsigned char* row = map + min(max(y + dy, 0), height - 1) * width;
#pragma unroll
        for (int dx = -REACH; dx <= REACH; ++dx)
            ++VOTES(row[min(max(x + dx, 0), width - 1)]);
    }

    int most = VOTES(0), winner = 0;
#pragma unroll
    for (int c = 1; c < CLASSES; ++c) {
        if (VOTES(c) > most) {
            most = VOTES(c);
            winner = c;
        }
    }
    smooth[y * width + x] = winner;
}
