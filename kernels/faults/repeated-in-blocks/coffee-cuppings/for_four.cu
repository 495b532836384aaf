// How each taster likes each roast, from flavours that are kept as logarithms of eight bits.

// Launch: grid (roasts / 8, tasters / 4), block 256: a warp per roast. Each block makes the flavours of its roasts for four tasters.
extern "C" __global__ void rate(const uchar4* __restrict__ flavour, const float2* __restrict__ scale, const float4* __restrict__ taste,
                                float* __restrict__ liking, int flavours, int tasters)
{
    const int roast = blockIdx.x * 8 + threadIdx.x / 32, first = blockIdx.y * 4, lane = threadIdx.x % 32;
    const float2 s = scale[roast];
    flavour += (size_t)roast * (flavours / 4);
    taste += (size_t)first * (flavours / 4);
    float sum[4] = {};
#pragma unroll 2
    for (int f = lane; f < flavours / 4; f += 32) {
        const uchar4 code = flavour[f];
        const float4 made = make_float4(exp2f(fmaf(s.x, code.x, s.y)), exp2f(fmaf(s.x, code.y, s.y)),
                                        exp2f(fmaf(s.x, code.z, s.y)), exp2f(fmaf(s.x, code.w, s.y)));
#pragma unroll
        for (int k = 0; k < 4; ++k) {
            const float4 t = taste[f + k * (flavours / 4)];
            sum[k] = fmaf(made.x, t.x, fmaf(made.y, t.y, fmaf(made.z, t.z, fmaf(made.w, t.w, sum[k]))));
        }
    }
#pragma unroll
    for (int k = 0; k < 4; ++k) {
        for (int half = 16; half > 0; half /= 2) sum[k] += __shfl_xor_sync(~0u, sum[k], half);
        if (lane == 0) liking[(size_t)roast * tasters + first + k] = sum[k];
    }
}
