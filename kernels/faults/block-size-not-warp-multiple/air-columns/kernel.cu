// Relaxes the layers of many columns of air to the temperature at which they radiate what heats them. The layers have
// nothing to do with each other, so that the block is free: a column's 40 layers, or whole warps of layers.

constexpr int STEPS = 256;

// Launch: grid layers of all columns / block, any block that divides them.
extern "C" __global__ void
relax_layers(const float* __restrict__ heating, float* __restrict__ temperatures)
{
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    const float heat = heating[i];
    float temperature = 1.0f;
#pragma unroll 8
    for (int step = 0; step < STEPS; ++step) {
        const float square = temperature * temperature;
        temperature = fmaf(0.05f, fmaf(-square, square, heat), temperature);
    }
    temperatures[i] = temperature;
}
