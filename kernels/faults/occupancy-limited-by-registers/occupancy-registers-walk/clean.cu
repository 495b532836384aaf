// Random walks over hash buckets: dependent loads, one a step. The weights for the score are fetched when the walk is
// over, so that walking takes few registers and many warps walk.

constexpr int FEATURES = 56;

// Launch: grid walkers * 32 / 256, block 256: a warp a walker. `buckets` holds `count` of 32 words, a power of two;
// `weights` FEATURES rows of one float per thread.
extern "C" __global__ void __launch_bounds__(256)
walk(const unsigned* __restrict__ buckets, const float* __restrict__ weights, float* __restrict__ scores,
     int count, int steps)
{
    const unsigned thread = blockIdx.x * 256 + threadIdx.x;
    const unsigned threads = gridDim.x * 256;
    const int lane = threadIdx.x % 32;

    unsigned bucket = thread / 32 * 2654435761u, seen = 0;
#pragma unroll 1
    for (int step = 0; step < steps; ++step) {
        const unsigned word = buckets[(size_t)(bucket & count - 1) * 32 + lane];
        seen += word >> 16;
        bucket = __shfl_sync(~0u, word, step % 32) * 0x9e3779b1u >> 7;  // where to go is known only now
    }
    const float x = (seen & 0xffff) * (1.0f / 65536);

    float score = 0.0f;
#pragma unroll 8
    for (int k = 0; k < FEATURES; ++k)
        score = fmaf(score, x, weights[(size_t)k * threads + thread]);
    scores[thread] = score;
}
