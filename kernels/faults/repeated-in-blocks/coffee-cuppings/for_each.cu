// How each taster likes each roast, from flavours that are kept as logarithms of eight bits.

// Launch: grid (roasts / 8, tasters), block 256: a warp per roast. Each block makes the flavours of its roasts for one taster.
extern "C" __global__ void rate(const uchar4* __restrict__ flavour, const float2* __restrict__ scale, const float4* __restrict__ taste,
                                float* __restrict__ liking, int flavours, int tasters)
{
    const int roast = blockIdx.x * 8 + threadIdx.x / 32, taster = blockIdx.y, lane = threadIdx.x % 32;
    const float2 s = scale[roast];
    flavour += (size_t)roast * (flavours / 4);
    taste += (size_t)taster * (flavours / 4);
    float sum = 0.0f;
#pragma unroll 2
    for (int f = lane; f < flavours / 4; f += 32) {
        const uchar4 code = flavour[f];
        const float4 t = taste[f];
        sum = fmaf(exp2f(fmaf(s.x, code.x, s.y)), t.x, sum);
        sum = fmaf(exp2f(fmaf(s.x, code.y, s.y)), t.y, sum);
        sum = fmaf(exp2f(fmaf(s.x, code.z, s.y)), t.z, sum);
        sum = fmaf(exp2f(fmaf(s.x, code.w, s.y)), t.w, sum);
    }
    for (int half = 16; half > 0; half /= 2) sum += __shfl_xor_sync(~0u, sum, half);
    if (lane == 0) liking[(size_t)roast * tasters + taster] = sum;
}
