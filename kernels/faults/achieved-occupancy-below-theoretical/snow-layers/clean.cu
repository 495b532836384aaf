// Cools the layers of a snow pack. The uppermost of 16 layers needs 32 times as many steps as the others.
// A block takes 512 columns of one layer, so that all its warps take as long; the long blocks begin first.

// Launch: grid (columns / 512, 16), block (32, 16). kelvin[layer][column].
extern "C" __global__ void __launch_bounds__(512)
cool(const float* __restrict__ kelvin, float* __restrict__ cooled, unsigned columns)
{
    const unsigned column = blockIdx.x * 512 + threadIdx.y * 32 + threadIdx.x;
    const unsigned layer = blockIdx.y;
    const int steps = layer == 0 ? 2048 : 64;
    const float h = layer == 0 ? 0.5f / 2048 : 0.5f / 64;
    float t = kelvin[(size_t)layer * columns + column];
    // Radiation and conduction; each step needs the last one.
#pragma unroll 4
    for (int step = 0; step < steps; ++step) {
        const float radiated = (t * t) * (t * t);
        t -= h * (radiated - 0.7f + 0.3f * radiated * t);
    }
    cooled[(size_t)layer * columns + column] = t;
}
