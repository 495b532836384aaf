// The picture lies pixel by pixel: what one place has in all bands is a line of its own.
extern "C" __global__ void brightness(const float4* __restrict__ picture, const int* __restrict__ places,
    const float4* __restrict__ weights, float* __restrict__ brightness, int bands)
{
    const int coral = blockIdx.x * blockDim.x + threadIdx.x;
    const float4* colours = picture + (size_t)places[coral] * (bands / 4);
    float sum = 0;
    for (int four = 0; four < bands / 4; ++four) {
        const float4 colour = colours[four], weight = weights[four];
        sum += weight.x * colour.x + weight.y * colour.y + weight.z * colour.z + weight.w * colour.w;
    }
    brightness[coral] = sum;
}
