// Lagged Fibonacci generators, a stream a thread. The loop is unrolled over one turn of the ring, so that its words stay
// in registers.

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
#pragma unroll 1
    for (int round = 0; round < rounds; ++round)
#pragma unroll
        for (int place = 0; place < LAG; ++place) {
            ring[place] += ring[(place + LAG - 5) % LAG];
            sum += ring[place] >> 8;
        }
    sums[stream] = sum;
}
