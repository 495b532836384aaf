// Normal volatilities from option prices, by bisection in Bachelier's model. A row of the grid is an expiry, its blocks share
// the expiry's strikes.

struct Quote {
    float moneyness;  // forward - strike
    float price;
};

// The price of a call at the standard deviation `width`, with a logistic curve for the normal distribution.
__device__ __forceinline__ float call(float moneyness, float width)
{
    const float d = __fdividef(moneyness, width);
    const float cumulative = __fdividef(1.0f, 1.0f + __expf(d * fmaf(-0.07056f, d * d, -1.5976f)));
    const float density = 0.39894228f * __expf(-0.5f * d * d);
    return fmaf(moneyness, cumulative, width * density);
}

// Launch: grid (blocks an expiry, expiries), block 640.
extern "C" __global__ void __launch_bounds__(640, 3)
imply(const Quote* __restrict__ quotes, float* __restrict__ volatility, int strikes, int halvings)
{
    const int expiry = blockIdx.y;
    const Quote* row = quotes + (size_t)expiry * strikes;
    float* out = volatility + (size_t)expiry * strikes;
    const float rootTime = sqrtf(0.25f * (expiry + 1));

    for (int k = blockIdx.x * blockDim.x + threadIdx.x; k < strikes; k += gridDim.x * blockDim.x) {
        const Quote q = row[k];
        float low = 0.01f, high = 4.0f;
#pragma unroll 2
        for (int h = 0; h < halvings; ++h) {
            const float middle = 0.5f * (low + high);
            if (call(q.moneyness, middle * rootTime) < q.price)
                low = middle;
            else
                high = middle;
        }
        out[k] = 0.5f * (low + high);
    }
}
