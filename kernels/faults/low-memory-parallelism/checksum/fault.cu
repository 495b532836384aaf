// A polynomial checksum for each stream, a thread each. The loop asks for a word only after it has used the one before,
// and there are too few warps to fill the gap.

// Launch: grid streams / 128, block 128. Word k of stream s lies at words[k * streams + s].
extern "C" __global__ void __launch_bounds__(128)
checksum_serial(const unsigned* __restrict__ words, unsigned* __restrict__ checksums, unsigned streams, unsigned length)
{
    const unsigned s = blockIdx.x * 128 + threadIdx.x;
    const unsigned* word = words + s;
    unsigned h = 0;
#pragma unroll 1
    for (unsigned k = 0; k < length; ++k) {
        h = h * 31 + *word;
        word += streams;
    }
    checksums[s] = h;
}
