// A polynomial checksum for each stream, a thread each, with eight words on their way at a time.

// Launch: grid streams / 128, block 128. Word k of stream s lies at words[k * streams + s].
extern "C" __global__ void __launch_bounds__(128)
checksum_ahead(const unsigned* __restrict__ words, unsigned* __restrict__ checksums, unsigned streams, unsigned length)
{
    const unsigned s = blockIdx.x * 128 + threadIdx.x;
    const unsigned* word = words + s;
    unsigned h = 0;
#pragma unroll 1
    for (unsigned k = 0; k < length; k += 8) {
        unsigned ahead[8];
#pragma unroll
        for (int j = 0; j < 8; ++j) {
            ahead[j] = *word;
            word += streams;
        }
#pragma unroll
        for (int j = 0; j < 8; ++j)
            h = h * 31 + ahead[j];
    }
    checksums[s] = h;
}
