// The angle of a lamp is what its whole turns leave, worked out exactly.
extern "C" __global__ void shine(const float* __restrict__ moments, const float* __restrict__ rates,
    const float* __restrict__ starts, float* __restrict__ seen, int lamps, float turn)
{
    const int moment = blockIdx.x * blockDim.x + threadIdx.x;
    const float t = moments[moment];
    float sum = 0;
    for (int lamp = 0; lamp < lamps; ++lamp) {
        const float angle = fmodf(rates[lamp] * t + starts[lamp], turn);
        sum += fabsf(angle - 0.5f * turn);
    }
    seen[moment] = sum;
}
