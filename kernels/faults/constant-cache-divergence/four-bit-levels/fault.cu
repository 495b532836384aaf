// Turns 4-bit codes into one of 16 levels each, through a table in constant memory that every lane indexes with its own
// code.

__constant__ float LEVELS[16] = {-1.0f, -0.7f, -0.53f, -0.39f, -0.28f, -0.18f, -0.09f, 0.0f,
                                     0.08f, 0.16f, 0.25f, 0.34f, 0.44f, 0.56f, 0.72f, 1.0f};

// Launch: grid weights / 512, block 128. A thread takes four codes in 16 bits, the lowest first.
extern "C" __global__ void __launch_bounds__(128)
levels_from_constant(const unsigned short* __restrict__ codes, float4* __restrict__ weights)
{
    const size_t i = (size_t)blockIdx.x * 128 + threadIdx.x;
    const unsigned four = codes[i];
    weights[i] = make_float4(LEVELS[four & 15u], LEVELS[four >> 4 & 15u], LEVELS[four >> 8 & 15u], LEVELS[four >> 12]);
}
