// Potentials of charges in the field of those before them, a warp a charge. Blocks take runs of charges, and the work of a
// charge grows with its number.

// Launch: grid 264, block 1024: 32 warps a block, ROWS / 32 charges a warp. n = 264 * ROWS.
constexpr int ROWS = 128;  // charges a block

extern "C" __global__ void __launch_bounds__(1024)
potentials(const float* __restrict__ x, const float* __restrict__ y, const float* __restrict__ q,
           float* __restrict__ potential)
{
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    for (int r = warp; r < ROWS; r += 32) {
        const int i = blockIdx.x * ROWS + r;
        const float xi = x[i], yi = y[i];
        float sum = 0.0f;
#pragma unroll 4
        for (int j = lane; j < i; j += 32) {
            const float dx = x[j] - xi, dy = y[j] - yi;
            sum = fmaf(q[j], rsqrtf(fmaf(dx, dx, fmaf(dy, dy, 0.01f))), sum);
        }
        for (int offset = 16; offset > 0; offset /= 2)
            sum += __shfl_xor_sync(~0u, sum, offset);
        if (lane == 0)
            potential[i] = sum;
    }
}
