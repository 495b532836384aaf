// Sonar: a filter of second order for each hydrophone, along time. A thread has a hydrophone.

// Launch: grid (hydrophones / 256), block 256.
extern "C" __global__ void filter(const float* heard, float* filtered, float* state, int samples)
{
    const int phone = blockIdx.x * 256 + threadIdx.x, phones = gridDim.x * 256;
    float first = 0.0f, second = 0.0f;
    for (int t = 0; t < samples; t++) {
        const float x = heard[(size_t)t * phones + phone];
        const float y = 0.2f * x + first;
        first = 0.4f * x + 0.37f * y + second;
        second = 0.2f * x - 0.2f * y;
        filtered[(size_t)t * phones + phone] = y;
    }
    state[phone] = first;
    state[phones + phone] = second;
}
