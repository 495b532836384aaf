// Counts, for each image, the images before it whose perceptual hashes differ in at most 22 of 64 bits.
// A thread takes two neighbours, so a block at the end has much more to do than one at the beginning.

// Launch: grid hashes / 512, block 256: half as many threads as hashes.
extern "C" __global__ void __launch_bounds__(256)
count_similar(const unsigned long long* __restrict__ hashes, unsigned* __restrict__ similar, unsigned count)
{
    const unsigned thread = blockIdx.x * 256 + threadIdx.x;
    const unsigned images[2] = {2 * thread, 2 * thread + 1};
    for (int k = 0; k < 2; ++k) {
        const unsigned long long hash = hashes[images[k]];
        unsigned near = 0;
#pragma unroll 4
        for (unsigned other = 0; other < images[k]; ++other)
            near += __popcll(hash ^ hashes[other]) <= 22;
        similar[images[k]] = near;
    }
}
