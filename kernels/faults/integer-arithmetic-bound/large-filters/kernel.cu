// A filter over all bands of an image, with a side that is known at run time only. DIVIDE finds a tap's band, row and
// column from its number by division; the other counts them up.

// Launch: grid (width / 32, height / 4), block (32, 4). The image has side - 1 more rows and columns than the result.
extern "C" __global__ void __launch_bounds__(128)
filter_bands(const float* __restrict__ image, const float* __restrict__ weights, float* __restrict__ result,
             unsigned bands, unsigned side, unsigned width, unsigned pitch, unsigned plane)
{
    const unsigned x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 4 + threadIdx.y;
    const float* corner = image + y * pitch + x;
    const unsigned taps = bands * side * side;
    float sum = 0.0f;
#ifndef DIVIDE
    unsigned row = 0, column = 0, band = 0;
#endif
#pragma unroll 1
    for (unsigned tap = 0; tap < taps; ++tap) {
#ifdef DIVIDE
        const unsigned column = tap % side, row = tap / side % side, band = tap / (side * side);
#endif
        sum += weights[tap] * corner[band * plane + row * pitch + column];
#ifndef DIVIDE
        if (++column == side) {
            column = 0;
            if (++row == side) {
                row = 0;
                ++band;
            }
        }
#endif
    }
    result[y * width + x] = sum;
}
