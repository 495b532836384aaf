// Adds the frames of a drift scan up in halves, each by a compare-and-swap of the word around it.

constexpr int WIDTH = 65536;
constexpr unsigned short ONE = 0x3c00;  // 1.0

__device__ unsigned short add_halves(unsigned short a, unsigned short b)
{
    unsigned short sum;
    asm("add.f16 %0, %1, %2;" : "=h"(sum) : "h"(a), "h"(b));
    return sum;
}

__device__ void add_to_half(unsigned* sums, unsigned pixel, unsigned short value)
{
    unsigned* word = sums + pixel / 2;
    const bool is_high = pixel % 2;
    unsigned seen = *(volatile unsigned*)word;
    unsigned assumed;
    do {
        assumed = seen;
        const unsigned short sum = add_halves(is_high ? assumed >> 16 : assumed & 0xffff, value);
        const unsigned next = is_high ? (assumed & 0xffff) | ((unsigned)sum << 16) : (assumed & 0xffff0000) | sum;
        seen = atomicCAS(word, assumed, next);
    } while (seen != assumed);
}

__device__ float to_float(unsigned short half)
{
    float value;
    asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(half));
    return value;
}

// Launch: a block of 256 threads per frame. sums[WIDTH / 2] counts the blocks that have finished; all of `sums` is zero
// before and after.
extern "C" __global__ void __launch_bounds__(256)
stack_by_swaps(const unsigned char* __restrict__ photons, const unsigned* __restrict__ drifts, unsigned* sums,
               float* __restrict__ row)
{
    const unsigned char* frame = photons + (size_t)blockIdx.x * WIDTH;
    const unsigned drift = drifts[blockIdx.x];
    for (unsigned x = threadIdx.x; x < WIDTH; x += 256)
        add_to_half(sums, (x + drift) % WIDTH, frame[x] ? ONE : 0);

    // The last block to come here has the sums of all.
    __shared__ bool last;
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0)
        last = atomicAdd(sums + WIDTH / 2, 1u) == gridDim.x - 1;
    __syncthreads();
    if (last) {
        __threadfence();
        for (unsigned at = threadIdx.x; at < WIDTH / 2; at += 256) {
            const unsigned pair = *(volatile unsigned*)(sums + at);
            row[2 * at] = to_float(pair & 0xffff);
            row[2 * at + 1] = to_float(pair >> 16);
            sums[at] = 0;
        }
        if (threadIdx.x == 0)
            sums[WIDTH / 2] = 0;
    }
}
