// Stretches keys: 400 rounds of a small cipher over each, one round after another. A thread does ITEMS keys.

constexpr int ROUNDS = 400;

__device__ unsigned rotate(unsigned word, int by)
{
    return __funnelshift_l(word, word, by);
}

// Launch: grid keys / (1024 ITEMS), block 1024.
extern "C" __global__ void __launch_bounds__(1024)
stretch(const unsigned* __restrict__ keys, unsigned* __restrict__ stretched)
{
    const size_t first = (size_t)blockIdx.x * 1024 * ITEMS + threadIdx.x;
#pragma unroll 1
    for (int item = 0; item < ITEMS; ++item) {
        unsigned x = keys[first + item * 1024];
        unsigned y = ~x;
#pragma unroll 8
        for (unsigned round = 0; round < ROUNDS; ++round) {
            x = (rotate(x, 24) + y) ^ round;
            y = rotate(y, 3) ^ x;
        }
        stretched[first + item * 1024] = x ^ y;
    }
}
