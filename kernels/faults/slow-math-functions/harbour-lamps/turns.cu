// Some dozens of turns: the whole ones are taken off, which the reciprocal of a turn tells well enough.
extern "C" __global__ void shine(const float* __restrict__ moments, const float* __restrict__ rates,
    const float* __restrict__ starts, float* __restrict__ seen, int lamps, float turn)
{
    const int moment = blockIdx.x * blockDim.x + threadIdx.x;
    const float t = moments[moment], per_turn = 1.0f / turn;
    float sum = 0;
    for (int lamp = 0; lamp < lamps; ++lamp) {
        const float whole = rates[lamp] * t + starts[lamp];
        const float angle = whole - turn * truncf(whole * per_turn);
        sum += fabsf(angle - 0.5f * turn);
    }
    seen[moment] = sum;
}
