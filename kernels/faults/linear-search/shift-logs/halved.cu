// How log entries differ from what is usual in their shift, which is found by halving the shifts.

// Launch: grid (entries / 256), block 256. Each time has `each` entries; began[shifts] is beyond all times.
extern "C" __global__ void compare(const int* __restrict__ began, const float* __restrict__ usual, const float* __restrict__ entry,
                                   float* __restrict__ difference, int shifts, int each)
{
    const int i = blockIdx.x * 256 + threadIdx.x;
    const int time = i / each;
    int shift = 0, end = shifts;
#pragma unroll 1
    while (end - shift > 1) {
        const int middle = (shift + end) / 2;
        if (began[middle] <= time) shift = middle;
        else end = middle;
    }
    difference[i] = entry[i] - usual[shift];
}
