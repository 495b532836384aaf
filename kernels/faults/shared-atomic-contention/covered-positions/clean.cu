// Which positions of a genome's segments are covered by a base read with confidence. A segment has 16384 positions, kept as bits
// in shared memory by its block, and 96 reads of 256 bases, each at its own offset; a warp takes a read at a time.

constexpr int POSITIONS = 16384;
constexpr int READS = 96;
constexpr int BASES = 256;
constexpr int THREADS = 192;

// Launch: grid segments, block 192.
extern "C" __global__ void __launch_bounds__(THREADS)
cover(const unsigned char* __restrict__ quality, const unsigned* __restrict__ offset, unsigned* __restrict__ bits,
      unsigned* __restrict__ covered, int confident)
{
    __shared__ unsigned seen[POSITIONS / 32];
    __shared__ unsigned total;
    for (int w = threadIdx.x; w < POSITIONS / 32; w += THREADS)
        seen[w] = 0;
    if (threadIdx.x == 0)
        total = 0;
    __syncthreads();

    const int lane = threadIdx.x % 32;
    for (int read = threadIdx.x / 32; read < READS; read += THREADS / 32) {
        const size_t row = (size_t)blockIdx.x * READS + read;
        const unsigned start = offset[row];
        int q[BASES / 32];
#pragma unroll
        for (int part = 0; part < BASES / 32; ++part)
            q[part] = quality[row * BASES + part * 32 + lane];
#pragma unroll
        for (int base = 0; base < BASES; base += 32) {
            const unsigned first = start + base;
            const bool good = q[base / 32] >= confident && first + lane < POSITIONS;
            const unsigned found = __ballot_sync(0xffffffffu, good);
            // The warp's 32 positions lie in two words, which two lanes take care of.
            const unsigned part = lane == 0 ? found << (first % 32) : __funnelshift_l(found, 0, first % 32);
            if (lane < 2 && part != 0)
                atomicOr(&seen[first / 32 + lane], part);
        }
    }
    __syncthreads();

    int count = 0;
    for (int w = threadIdx.x; w < POSITIONS / 32; w += THREADS) {
        bits[(size_t)blockIdx.x * (POSITIONS / 32) + w] = seen[w];
        count += __popc(seen[w]);
    }
    count = __reduce_add_sync(0xffffffffu, count);
    if (lane == 0)
        atomicAdd(&total, (unsigned)count);
    __syncthreads();
    if (threadIdx.x == 0)
        covered[blockIdx.x] = total;
}
