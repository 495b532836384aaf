// Discount factors of annuities by Newton's method: 64 steps over a polynomial whose coefficients are a contract's payments.
// The contract is read once, float by float or (WIDE) as two float4; the steps take nearly all of the time.

// Launch: grid contracts / 128, block 128. A contract is seven payments and a price.
extern "C" __global__ void __launch_bounds__(128)
solve_rates(const float* __restrict__ contracts, float* __restrict__ discounts)
{
    const size_t i = (size_t)blockIdx.x * 128 + threadIdx.x;
    float terms[8];
#ifdef WIDE
    const float4 low = ((const float4*)contracts)[2 * i], high = ((const float4*)contracts)[2 * i + 1];
    terms[0] = low.x, terms[1] = low.y, terms[2] = low.z, terms[3] = low.w;
    terms[4] = high.x, terms[5] = high.y, terms[6] = high.z, terms[7] = high.w;
#else
#pragma unroll
    for (int k = 0; k < 8; ++k)
        terms[k] = contracts[8 * i + k];
#endif
    // The root of payments(d) = 4 price in d, where payments(d) = d (p0 + d (p1 + ...)).
    float discount = 0.9f;
#pragma unroll 4
    for (int step = 0; step < 64; ++step) {
        float value = terms[6], slope = 0.0f;
#pragma unroll
        for (int k = 5; k >= 0; --k) {
            slope = slope * discount + value;
            value = value * discount + terms[k];
        }
        slope = slope * discount + value;
        value = value * discount - 4.0f * terms[7];
        discount -= __fdividef(value, slope);
    }
    discounts[i] = discount;
}
