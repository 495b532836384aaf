// Cyclic redundancy checks of packets, bit by bit: a thread a packet of 16 words.
// A bit takes three instructions, and the loop around it as many.

constexpr int WORDS = 16;

// Launch: grid packets / 224, block 224. packets[word][packet].
extern "C" __global__ void __launch_bounds__(224)
check(const unsigned* __restrict__ packets, unsigned* __restrict__ checks, unsigned count)
{
    const unsigned packet = blockIdx.x * 224 + threadIdx.x;
    unsigned crc = ~0u;
#pragma unroll 1
    for (int word = 0; word < WORDS; ++word) {
        crc ^= packets[(size_t)word * count + packet];
#pragma unroll 1
        for (int bit = 0; bit < 32; ++bit)
            crc = crc & 1 ? crc >> 1 ^ 0xedb88320u : crc >> 1;
    }
    checks[packet] = ~crc;
}
