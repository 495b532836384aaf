// Evaluates a Chebyshev series at the eight corners of each cell. LANES are set aside for a cell, of which eight work.

#ifndef LANES
#define LANES 8
#endif

constexpr int CORNERS = 8;
constexpr int TERMS = 256;

// Launch: grid cells * LANES / 192, block 192.
extern "C" __global__ void __launch_bounds__(192)
evaluate_corners(const float* __restrict__ places, const float* __restrict__ series, float* __restrict__ values)
{
    const unsigned cell = (blockIdx.x * 192 + threadIdx.x) / LANES;
    const unsigned corner = threadIdx.x % LANES;
    if (corner >= CORNERS)
        return;
    const float twice = 2.0f * places[cell * CORNERS + corner];
    float last = 0.0f;
    float before = 0.0f;
    // Clenshaw's recurrence, from the last term to the first but one.
#pragma unroll 8
    for (int k = TERMS - 1; k > 0; --k) {
        const float next = fmaf(twice, last, series[k] - before);
        before = last;
        last = next;
    }
    values[cell * CORNERS + corner] = fmaf(0.5f * twice, last, series[0] - before);
}
