// A sample and its echoes, each added to the result.

// Launch: grid (samples / 256), block 256.
extern "C" __global__ void hear(const float* played, const int* delay, const float* loudness, float* heard, int lead)
{
    const int sample = blockIdx.x * 256 + threadIdx.x;
    const float* now = played + lead + sample;
    heard[sample] = *now;
    for (int echo = 0; echo < 16; ++echo) heard[sample] += loudness[echo] * now[-delay[echo]];
}
