// Mu-law companding, a stretch of 48 samples a thread for each block. A thread waits for each of its loads, so the warps
// that are resident are what keeps memory busy.

// Launch: grid n / (48 * BLOCK), block BLOCK.
extern "C" __global__ void __launch_bounds__(BLOCK)
compand(const float* __restrict__ sound, unsigned char* __restrict__ codes)
{
    const size_t first = (size_t)blockIdx.x * (48 * BLOCK) + threadIdx.x;
#pragma unroll 1
    for (int j = 0; j < 48; ++j) {
        const float x = sound[first + j * BLOCK];
        const float level = __log2f(fmaf(255.0f, fabsf(x), 1.0f)) * (127.0f / 8);
        codes[first + j * BLOCK] = (unsigned char)(128.0f + copysignf(level, x));
    }
}
