// A sample and its echoes, added up in a register.

// Launch: grid (samples / 256), block 256.
extern "C" __global__ void hear(const float* played, const int* delay, const float* loudness, float* heard, int lead)
{
    const int sample = blockIdx.x * 256 + threadIdx.x;
    const float* now = played + lead + sample;
    float sum = *now;
    for (int echo = 0; echo < 16; ++echo) sum += loudness[echo] * now[-delay[echo]];
    heard[sample] = sum;
}
