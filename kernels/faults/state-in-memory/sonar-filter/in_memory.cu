// Sonar: a filter of second order for each hydrophone, along time. A thread has a hydrophone.

// Launch: grid (hydrophones / 256), block 256.
extern "C" __global__ void filter(const float* heard, float* filtered, float* state, int samples)
{
    const int phone = blockIdx.x * 256 + threadIdx.x, phones = gridDim.x * 256;
    state[phone] = 0.0f;
    state[phones + phone] = 0.0f;
    for (int t = 0; t < samples; t++) {
        const float x = heard[(size_t)t * phones + phone];
        const float y = 0.2f * x + state[phone];
        state[phone] = 0.4f * x + 0.37f * y + state[phones + phone];
        state[phones + phone] = 0.2f * x - 0.2f * y;
        filtered[(size_t)t * phones + phone] = y;
    }
}
