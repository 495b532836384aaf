// Buoys: the energy of the waves that each has recorded, and the largest height. A warp takes a buoy; each lane keeps its own
// sum and maximum, and the lanes are combined at the end.

// Launch: grid (buoys / 8), block 256.
extern "C" __global__ void waves(const float* __restrict__ heights, float* __restrict__ energy, float* __restrict__ largest, int samples)
{
    const int buoy = (int)(blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    const float* mine = heights + (size_t)buoy * samples;
    float sum = 0.0f, most = 0.0f;
    for (int i = lane; i < samples; i += 32) {
        const float height = mine[i];
        sum += height * height;
        most = fmaxf(most, fabsf(height));
    }
    for (int step = 16; step > 0; step /= 2) {
        sum += __shfl_xor_sync(~0u, sum, step);
        most = fmaxf(most, __shfl_xor_sync(~0u, most, step));
    }
    if (lane == 0) {
        energy[buoy] = sum / (float)samples;
        largest[buoy] = most;
    }
}
