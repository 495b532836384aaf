// Counts, for each image, the images before it whose perceptual hashes differ in at most 22 of 64 bits. A warp takes
// four images, one after another.
// Its images lie near the front and near the back by turns, so all warps have the same to do.

// Launch: grid hashes / 128, block 1024.
extern "C" __global__ void __launch_bounds__(1024)
count_similar(const unsigned long long* __restrict__ hashes, unsigned* __restrict__ similar)
{
    const unsigned warp = blockIdx.x * 32 + threadIdx.x / 32;
    const unsigned lane = threadIdx.x % 32;
#pragma unroll 1
    for (unsigned k = 0; k < 4; ++k) {
        const unsigned image = k % 2 == 0 ? k * gridDim.x * 32 + warp : (k + 1) * gridDim.x * 32 - 1 - warp;
        const unsigned long long hash = hashes[image];
        unsigned near = 0;
#pragma unroll 4
        for (unsigned other = lane; other < image; other += 32)
            near += __popcll(hash ^ hashes[other]) <= 22;
        for (int distance = 16; distance > 0; distance /= 2)
            near += __shfl_xor_sync(~0u, near, distance);
        if (lane == 0)
            similar[image] = near;
    }
}
