// The picture lies band by band: what one place has in all bands is as many planes apart.
extern "C" __global__ void brightness(const float* __restrict__ picture, const int* __restrict__ places,
    const float* __restrict__ weights, float* __restrict__ brightness, int bands, int pixels)
{
    const int coral = blockIdx.x * blockDim.x + threadIdx.x;
    const int place = places[coral];
    float sum = 0;
    for (int band = 0; band < bands; ++band) sum += weights[band] * picture[(size_t)band * pixels + place];
    brightness[coral] = sum;
}
