// Adds up packet lengths by protocol with atomic additions in shared memory, where each lane has eight words of its own:
// lanes never meet, warps seldom do.

constexpr int PROTOCOLS = 8;
constexpr int COPIES = 32;     // of the sums
constexpr int PART = 16384;   // packets of a block

// Launch: grid packets / 16384, block 512.
extern "C" __global__ void __launch_bounds__(512)
sum_by_protocol_and_lane(const uchar4* __restrict__ protocols, const uint4* __restrict__ lengths, unsigned* __restrict__ totals)
{
    __shared__ unsigned sums[PROTOCOLS * COPIES];
    for (int i = threadIdx.x; i < PROTOCOLS * COPIES; i += 512)
        sums[i] = 0;
    __syncthreads();

    const auto add = [&](int protocol, unsigned length) {
        atomicAdd(sums + protocol * COPIES + threadIdx.x % COPIES, length);
    };
    const size_t first = (size_t)blockIdx.x * (PART / 4);
#pragma unroll 2
    for (int i = threadIdx.x; i < PART / 4; i += 512) {
        const uchar4 protocol = protocols[first + i];
        const uint4 length = lengths[first + i];
        add(protocol.x, length.x);
        add(protocol.y, length.y);
        add(protocol.z, length.z);
        add(protocol.w, length.w);
    }
    __syncthreads();

    if (threadIdx.x < PROTOCOLS) {
        unsigned total = 0;
        for (int copy = 0; copy < COPIES; ++copy)
            total += sums[threadIdx.x * COPIES + (copy + threadIdx.x) % COPIES];
        totals[blockIdx.x * PROTOCOLS + threadIdx.x] = total;
    }
}
