// Probabilities of 8 classes from their scores (softmax), a lane a class.
// A warp takes one row at a time, and 24 of its lanes have nothing to do.

constexpr int CLASSES = 8;
constexpr int ROWS = 16;  // of a warp

// Launch: grid rows / 128, block 256.
extern "C" __global__ void __launch_bounds__(256)
softmax(const float* __restrict__ scores, float* __restrict__ probabilities)
{
    const unsigned warp = (blockIdx.x * 256 + threadIdx.x) / 32;
    const unsigned lane = threadIdx.x % 32;
    for (int row = 0; row < ROWS; row += 1) {
        const size_t at = ((size_t)warp * ROWS + row) * CLASSES + lane;
        if (lane < CLASSES) {
            const float score = scores[at];
            float most = score;
            for (int distance = 1; distance < CLASSES; distance *= 2)
                most = fmaxf(most, __shfl_xor_sync(0xffu, most, distance));
            const float weight = __expf(score - most);
            float sum = weight;
            for (int distance = 1; distance < CLASSES; distance *= 2)
                sum += __shfl_xor_sync(0xffu, sum, distance);
            probabilities[at] = __fdividef(weight, sum);
        }
    }
}
