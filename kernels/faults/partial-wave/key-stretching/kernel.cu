// Stretches pass codes: a thread takes PER_THREAD codes and hashes each 1024 times. How many codes a thread takes decides
// how many blocks there are, and so how well they fill whole waves.

#ifndef PER_THREAD
#define PER_THREAD 12
#endif

constexpr int ROUNDS = 1024;

// Launch: grid codes / (1024 * PER_THREAD), block 1024.
extern "C" __global__ void __launch_bounds__(1024)
stretch_keys(const unsigned* __restrict__ codes, unsigned* __restrict__ keys)
{
#pragma unroll 1
    for (int k = 0; k < PER_THREAD; ++k) {
        const unsigned i = (blockIdx.x * PER_THREAD + k) * 1024 + threadIdx.x;
        unsigned key = codes[i];
#pragma unroll 4
        for (int round = 0; round < ROUNDS; ++round) {
            key = (key ^ key >> 15) * 0x85ebca6bu;
            key = (key << 13 | key >> 19) + round;
        }
        keys[i] = key;
    }
}
