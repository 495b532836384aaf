// Heights of the tide at a few ports for many years, an hour at a time: a sum of harmonic constituents whose amplitude, speed and
// phase belong to the port.

constexpr int CONSTITUENTS = 24;

// Wrapped to half a turn either side, by the rounding of an addition.
__device__ __forceinline__ float wrapped(float turns)
{
    const float whole = (turns + 12582912.0f) - 12582912.0f;
    return turns - whole;
}

// Launch: grid ports x any, block 256. Four hours a thread at a time.
extern "C" __global__ void __launch_bounds__(256)
predict(const float* __restrict__ amplitude, const float* __restrict__ speed, const float* __restrict__ phase,
        float4* __restrict__ height, int hours)
{
    __shared__ float4 own[CONSTITUENTS];
    const int port = blockIdx.x;
    if (threadIdx.x < CONSTITUENTS) {
        const int c = port * CONSTITUENTS + threadIdx.x;
        own[threadIdx.x] = make_float4(amplitude[c], speed[c], phase[c], 0.0f);
    }
    __syncthreads();

    const int quads = hours / 4;
    float4* const row = height + (size_t)port * quads;
    for (int q = blockIdx.y * 256 + threadIdx.x; q < quads; q += gridDim.y * 256) {
        const float hour = 4.0f * q;
        float4 sum = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
#pragma unroll 4
        for (int c = 0; c < CONSTITUENTS; ++c) {
            const float4 k = own[c];
            const float turns = wrapped(fmaf(k.y, hour, k.z));
            sum.x = fmaf(k.x, __cosf(6.2831853f * turns), sum.x);
            sum.y = fmaf(k.x, __cosf(6.2831853f * (turns + k.y)), sum.y);
            sum.z = fmaf(k.x, __cosf(6.2831853f * fmaf(2.0f, k.y, turns)), sum.z);
            sum.w = fmaf(k.x, __cosf(6.2831853f * fmaf(3.0f, k.y, turns)), sum.w);
        }
        row[q] = sum;
    }
}
