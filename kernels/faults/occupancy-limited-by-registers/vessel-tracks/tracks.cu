// Reports of ships lie in a log in the order of arrival; each names the ship's report before it. A warp follows one
// ship backwards, a lane for each of the 32 fields of a report, and summarises the field: by a decayed mean, or by
// a smoothing filter over a long window. METHOD fixes the summary when compiling; without it the launch chooses.

constexpr int FIELDS = 32, WINDOW = 120;

__device__ float decayed_mean(const unsigned* __restrict__ previous, const float* __restrict__ reports, unsigned at,
                              int hops, int lane)
{
    float mean = 0.0f;
#pragma unroll 1
    for (int h = 0; h < hops; ++h) {
        const float value = reports[(size_t)at * FIELDS + lane];
        at = previous[at];
        mean = fmaf(0.9f, mean, 0.1f * value);
    }
    return mean;
}

// The window slides through registers; a biweight of the deviations from its mean weighs the values in the end.
__device__ float robust_trend(const unsigned* __restrict__ previous, const float* __restrict__ reports, unsigned at,
                              int hops, int lane)
{
    float window[WINDOW];
#pragma unroll
    for (int w = 0; w < WINDOW; ++w)
        window[w] = 0.0f;
    float trend = 0.0f;
#pragma unroll 1
    for (int h = 0; h < hops; ++h) {
        const float value = reports[(size_t)at * FIELDS + lane];
        at = previous[at];
        float sum = value;
#pragma unroll
        for (int w = WINDOW - 1; w > 0; --w) {
            window[w] = window[w - 1];
            sum += window[w];
        }
        window[0] = value;
        const float mean = sum / WINDOW;
        float top = 0.0f, bottom = 1e-6f;
#pragma unroll
        for (int w = 0; w < WINDOW; ++w) {
            const float d = window[w] - mean, k = fmaxf(0.0f, 1.0f - d * d);
            top = fmaf(k * k, window[w], top);
            bottom = fmaf(k, k, bottom);
        }
        trend += top / bottom;
    }
    return trend / hops;
}

// Launch: grid ships / 8, block 256. `method` is 0 for the mean, 1 for the trend.
extern "C" __global__ void
summarise(const unsigned* __restrict__ last, const unsigned* __restrict__ previous, const float* __restrict__ reports,
          float* __restrict__ summary, int ships, int hops, int method)
{
#ifdef METHOD
    method = METHOD;
#endif
    const int ship = blockIdx.x * 8 + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (ship >= ships)
        return;
    float result;
    switch (method) {
    case 0:
        result = decayed_mean(previous, reports, last[ship], hops, lane);
        break;
    default:
        result = robust_trend(previous, reports, last[ship], hops, lane);
    }
    summary[(size_t)ship * FIELDS + lane] = result;
}
