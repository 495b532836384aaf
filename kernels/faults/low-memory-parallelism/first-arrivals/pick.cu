// First arrivals: for each record of a detector, the first sample whose distance from the record's resting level is above the
// threshold. A warp scans a record and stops where it finds one.

// Launch: a warp a record, block 256. `length` is a multiple of 128.
extern "C" __global__ void __launch_bounds__(256)
pick(const float* __restrict__ records, const float* __restrict__ rest, int* __restrict__ arrival, int count,
     int length, float threshold)
{
    const int record = (blockIdx.x * 256 + threadIdx.x) / 32;
    const int lane = threadIdx.x % 32;
    if (record >= count)
        return;
    const float* samples = records + (size_t)record * length;
    const float level = rest[record];
    int found = -1;
#ifdef STEPWISE
    for (int base = 0; base < length; base += 32) {
        const unsigned above = __ballot_sync(~0u, fabsf(samples[base + lane] - level) > threshold);
        if (above) {
            found = base + __ffs(above) - 1;
            break;
        }
    }
#else
    for (int base = 0; base < length && found < 0; base += 128) {
        float near[4];
#pragma unroll
        for (int k = 0; k < 4; ++k)
            near[k] = samples[base + 32 * k + lane];
#pragma unroll
        for (int k = 0; k < 4; ++k) {
            const unsigned above = __ballot_sync(~0u, fabsf(near[k] - level) > threshold);
            if (above && found < 0)
                found = base + 32 * k + __ffs(above) - 1;
        }
    }
#endif
    if (lane == 0)
        arrival[record] = found;
}
