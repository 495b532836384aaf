// Buoys: the energy of the waves that each has recorded, and the largest height. A warp takes a buoy, and combines its lanes
// after every 32 samples.

// Launch: grid (buoys / 8), block 256.
extern "C" __global__ void waves(const float* __restrict__ heights, float* __restrict__ energy, float* __restrict__ largest, int samples)
{
    const int buoy = (int)(blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    const float* mine = heights + (size_t)buoy * samples;
    float sum = 0.0f, most = 0.0f;
    for (int i = lane; i < samples; i += 32) {
        const float height = mine[i];
        float square = height * height, high = fabsf(height);
        for (int step = 16; step > 0; step /= 2) {
            square += __shfl_xor_sync(~0u, square, step);
            high = fmaxf(high, __shfl_xor_sync(~0u, high, step));
        }
        sum += square;
        most = fmaxf(most, high);
    }
    if (lane == 0) {
        energy[buoy] = sum / (float)samples;
        largest[buoy] = most;
    }
}
