// The peak of each channel of a recorder, a warp a channel. Eight samples a lane are on their way at a time.

// Launch: grid ceil(rows / 8), block 256: a warp a row. `length` is a multiple of 256.
extern "C" __global__ void __launch_bounds__(256)
row_peaks(const int* __restrict__ samples, int* __restrict__ peaks, int rows, int length)
{
    const int row = blockIdx.x * 8 + threadIdx.x / 32;
    const int lane = threadIdx.x % 32;
    if (row >= rows)
        return;
    const int* own = samples + (size_t)row * length;
    int peak = -2147483647 - 1;
#pragma unroll 1
    for (int k = lane; k < length; k += 256) {
        int ahead[8];
#pragma unroll
        for (int j = 0; j < 8; ++j)
            ahead[j] = own[k + 32 * j];
#pragma unroll
        for (int j = 0; j < 8; ++j)
            peak = max(peak, ahead[j]);
    }

    for (int offset = 16; offset > 0; offset /= 2)
        peak = max(peak, __shfl_xor_sync(~0u, peak, offset));
    if (lane == 0)
        peaks[row] = peak;
}
