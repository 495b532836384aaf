// A Chebyshev series by Clenshaw's recurrence, a point a thread: b_k = c_k - b_(k+2) + 2x b_(k+1). Whether the product
// and the sum are one instruction is up to the compiler's flags.

// Launch: grid n / 256, block 256.
extern "C" __global__ void __launch_bounds__(256) evaluate(const float* __restrict__ x, float* __restrict__ values)
{
    const unsigned i = blockIdx.x * 256 + threadIdx.x;
    const float at = x[i];
    const float twice = 2.0f * at;
    float next = 0.0f, after = 0.0f;
#pragma unroll
    for (int k = 127; k > 0; --k) {
        const float b = (1.0f / ((k + 1) * (k + 1)) - after) + twice * next;
        after = next;
        next = b;
    }
    values[i] = (1.0f - after) + at * next;
}
