// How log entries differ from what is usual in their shift, which a walk along all shifts finds.

// Launch: grid (entries / 256), block 256. Each time has `each` entries; began[shifts] is beyond all times.
extern "C" __global__ void compare(const int* __restrict__ began, const float* __restrict__ usual, const float* __restrict__ entry,
                                   float* __restrict__ difference, int shifts, int each)
{
    const int i = blockIdx.x * 256 + threadIdx.x;
    const int time = i / each;
    int shift = 0;
#pragma unroll 1
    while (began[shift + 1] <= time) ++shift;
    difference[i] = entry[i] - usual[shift];
}
