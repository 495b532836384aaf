// Flat-field correction: a block keeps the gains of all columns in shared memory and corrects 16 rows by them, a sample a
// thread at a time. How much shared memory there is for gains is the launch's choice.

constexpr int COLUMNS = 960;

// Launch: grid rows / 16, block 96, shared memory for at least 960 floats.
extern "C" __global__ void __launch_bounds__(96)
correct(const float* __restrict__ raw, const float* __restrict__ gain, float* __restrict__ flat, float dark)
{
    extern __shared__ float own_gain[];
    for (int c = threadIdx.x; c < COLUMNS; c += 96)
        own_gain[c] = gain[c];
    __syncthreads();

    const size_t first = (size_t)blockIdx.x * 16 * COLUMNS;
#pragma unroll 1
    for (int row = 0; row < 16; ++row)
#pragma unroll 1
        for (int c = threadIdx.x; c < COLUMNS; c += 96)
            flat[first + row * COLUMNS + c] = (raw[first + row * COLUMNS + c] - dark) * own_gain[c];
}
