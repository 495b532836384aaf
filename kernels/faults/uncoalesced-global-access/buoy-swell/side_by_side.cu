// 32 buoys per block: each warp takes every 16th hour of all of them, and the warps' sums meet in shared memory.

extern "C" __global__ void __launch_bounds__(512)
swell_of_each(const float *__restrict__ heights, float *__restrict__ swell, int hours, int buoys) {
    __shared__ float squares[16][32];
    const int buoy = 32 * blockIdx.x + threadIdx.x;
    float sum = 0.0f;
#pragma unroll 8
    for (int hour = threadIdx.y; hour < hours; hour += 16) {
        const float height = heights[(size_t)hour * buoys + buoy];
        sum = fmaf(height, height, sum);
    }
    squares[threadIdx.y][threadIdx.x] = sum;
    __syncthreads();
    if (threadIdx.y == 0) {
        for (int warp = 1; warp < 16; ++warp)
            sum += squares[warp][threadIdx.x];
        swell[buoy] = sqrtf(sum / hours);
    }
}
