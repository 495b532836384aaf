// Temperatures from the voltages of thermocouples: the root of a polynomial by a fixed-slope iteration. The block's
// size is the launch's choice.

constexpr int ITEMS = 8;  // of a thread
constexpr int ROUNDS = 32;

// Launch: grid voltages / (8 blockDim), any block.
extern "C" __global__ void
temperatures(const float* __restrict__ voltages, float* __restrict__ kelvin)
{
    const size_t first = (size_t)blockIdx.x * blockDim.x * ITEMS + threadIdx.x;
    for (int item = 0; item < ITEMS; ++item) {
        const float voltage = voltages[first + item * blockDim.x];
        float t = voltage;
#pragma unroll 4
        for (int round = 0; round < ROUNDS; ++round) {
            float p = 0.0003f;
            p = p * t - 0.0021f;
            p = p * t + 0.0115f;
            p = p * t - 0.0312f;
            p = p * t + 0.0741f;
            p = p * t + 1.02f;
            p = p * t - voltage;
            t -= 0.9f * p;
        }
        kelvin[first + item * blockDim.x] = 273.15f + 25.0f * t;
    }
}
