// Altitudes by the barometric formula, PIECES pieces of 96 a block, one after the other. With one piece a block lives for a
// single load and store, and multiprocessors get new ones more slowly than that.

// Launch: grid n / (96 * PIECES), block 96.
extern "C" __global__ void __launch_bounds__(96)
altitudes(const float* __restrict__ pressure, float* __restrict__ altitude)
{
    const size_t first = (size_t)blockIdx.x * (96 * PIECES) + threadIdx.x;
#pragma unroll 1
    for (int piece = 0; piece < PIECES; ++piece) {
        const size_t i = first + piece * 96;
        altitude[i] = fmaf(-44330.0f, __powf(pressure[i] * (1.0f / 1013.25f), 0.1903f), 44330.0f);
    }
}
