// A block per buoy: its threads take the hours in turn and add up their squares in shared memory.

extern "C" __global__ void __launch_bounds__(128)
swell_of_each(const float *__restrict__ heights, float *__restrict__ swell, int hours, int buoys) {
    __shared__ float squares[128];
    const int buoy = blockIdx.x;
    float sum = 0.0f;
    for (int hour = threadIdx.x; hour < hours; hour += blockDim.x) {
        const float height = heights[(size_t)hour * buoys + buoy];
        sum = fmaf(height, height, sum);
    }
    squares[threadIdx.x] = sum;
    __syncthreads();
    for (int half = blockDim.x / 2; half > 0; half /= 2) {
        if (threadIdx.x < half)
            squares[threadIdx.x] += squares[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0)
        swell[buoy] = sqrtf(squares[0] / hours);
}
