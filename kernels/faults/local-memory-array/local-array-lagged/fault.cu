// Lagged Fibonacci generators, a stream a thread. The ring of the last 17 words is indexed by a running place, which only
// local memory can do.

constexpr int LAG = 17;

// Launch: grid streams / 224, block 224. seeds: LAG rows of one word a stream.
extern "C" __global__ void __launch_bounds__(224)
draw(const unsigned* __restrict__ seeds, unsigned* __restrict__ sums, int streams, int rounds)
{
    const int stream = blockIdx.x * 224 + threadIdx.x;
    unsigned ring[LAG];
#pragma unroll
    for (int k = 0; k < LAG; ++k)
        ring[k] = seeds[k * streams + stream];
    unsigned sum = 0;
    int place = 0, behind = LAG - 5;
#pragma unroll 1
    for (int n = 0; n < LAG * rounds; ++n) {
        const unsigned word = ring[place] + ring[behind];
        ring[place] = word;
        sum += word >> 8;
        place = place == LAG - 1 ? 0 : place + 1;
        behind = behind == LAG - 1 ? 0 : behind + 1;
    }
    sums[stream] = sum;
}
