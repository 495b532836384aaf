// Brightness of many points from the same 256 lamps in a row: a sum of parabolas.
// Their places and sums fill the registers, so that few warps fit, and those have enough to do for the pipe.

constexpr int POINTS = 48;  // of a thread
constexpr int LAMPS = 256;

// Launch: grid points / (128 POINTS), block 128.
extern "C" __global__ void __launch_bounds__(128)
light(const float* __restrict__ places, const float* __restrict__ lamps, float* __restrict__ brightness)
{
    const size_t first = (size_t)blockIdx.x * 128 * POINTS + threadIdx.x;
    float place[POINTS], sum[POINTS];
#pragma unroll
    for (int k = 0; k < POINTS; ++k) {
        place[k] = places[first + k * 128];
        sum[k] = 0.0f;
    }
#pragma unroll 1
    for (int lamp = 0; lamp < LAMPS; lamp += 2) {
        const float2 two = *(const float2*)(lamps + lamp);
#pragma unroll
        for (int k = 0; k < POINTS; ++k)
            sum[k] = (two.x * place[k] + two.y) * place[k] + sum[k];
    }
#pragma unroll
    for (int k = 0; k < POINTS; ++k)
        brightness[first + k * 128] = sum[k];
}
