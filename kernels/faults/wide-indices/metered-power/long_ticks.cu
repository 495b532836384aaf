// What metered power costs, with a tick of 64 bits for each reading.

// Launch: grid (meters / 8), block 256: a warp per meter. Each tick has its price.
extern "C" __global__ void bill(const unsigned long long* __restrict__ tick, const float* __restrict__ price,
                                const float* __restrict__ power, float* __restrict__ cost, int readings)
{
    const int meter = blockIdx.x * 8 + threadIdx.x / 32, lane = threadIdx.x % 32;
    tick += (size_t)meter * readings;
    power += (size_t)meter * readings;
    float sum = 0.0f;
#pragma unroll 8
    for (int r = lane; r < readings; r += 32) sum = fmaf(power[r], price[tick[r]], sum);
    for (int half = 16; half > 0; half /= 2) sum += __shfl_xor_sync(~0u, sum, half);
    if (lane == 0) cost[meter] = sum;
}
