// Bee hives: how much the sensors of a hive differ. A block takes a hive, and goes through its table 32 hours at a time, a warp for each
// four of them and a lane for each sensor.

// Launch: grid (hives), block 256.
extern "C" __global__ void differences(
    const float* __restrict__ degrees, const int* __restrict__ hours, float* __restrict__ unrest, int longest, int sensors)
{
    __shared__ float of_warps[8][32];
    const int hive = blockIdx.x, length = hours[hive], sensor = threadIdx.x % 32, warp = threadIdx.x / 32;
    const float* table = degrees + (size_t)hive * longest * sensors;
    float total = 0.0f;
    for (int first = 0; first < longest; first += 32) {
        float values[4];
#pragma unroll
        for (int k = 0; k < 4; ++k) {
            const int hour = first + 8 * k + warp;
            values[k] = hour < length && sensor < sensors ? table[hour * sensors + sensor] : 0.0f;
        }
#pragma unroll
        for (int k = 0; k < 4; ++k) {
            // The largest difference within an hour, of eight neighbours.
            float largest = 0.0f;
#pragma unroll
            for (int lag = 1; lag <= 8; ++lag) {
                const float before = __shfl_up_sync(~0u, values[k], lag);
                largest = fmaxf(largest, sensor >= lag ? fabsf(values[k] - before) : 0.0f);
            }
            total += largest;
        }
    }
    of_warps[warp][sensor] = total;
    __syncthreads();
    if (warp == 0 && sensor < sensors) {
        for (int other = 1; other < 8; ++other)
            total += of_warps[other][sensor];
        unrest[hive * sensors + sensor] = total;
    }
}
