// Likelihoods of nanopore signals: each read is a row of current levels, and the model a ring of six states that may be stayed in
// or left for the next. The forward recursion works with logarithms of probabilities throughout.

constexpr int STATES = 6;

struct Model {
    float stay, move;      // logarithms
    float base, rise;      // the current of state k is base + k * rise
    float precision;       // 1 / (2 variance)
};

// log(exp(a) + exp(b))
static __device__ __forceinline__ float log_add(float a, float b)
{
    const float larger = fmaxf(a, b), apart = -fabsf(a - b);
#ifdef LIBRARY
    return larger + log1pf(expf(apart));
#else
    return larger + __logf(1.0f + __expf(apart));
#endif
}

// Launch: a thread a read, block 160. Events are by time, then by read.
extern "C" __global__ void __launch_bounds__(160)
forward_reads(const float* __restrict__ events, int reads, int length, float stay, float move, float base, float rise,
              float precision, float* __restrict__ likelihood)
{
    const int read = blockIdx.x * 160 + threadIdx.x;
    if (read >= reads)
        return;
    const Model model = {stay, move, base, rise, precision};
    float alpha[STATES];
#pragma unroll
    for (int k = 0; k < STATES; ++k)
        alpha[k] = -1.8f - 0.01f * k;

    const float* event = events + read;
    for (int t = 0; t < length; ++t, event += reads) {
        const float current = __ldg(event);
        const float last = alpha[STATES - 1];
#pragma unroll
        for (int k = STATES - 1; k >= 0; --k) {
            const float off = current - fmaf((float)k, model.rise, model.base);
            const float from = k ? alpha[k - 1] : last;
            alpha[k] = fmaf(-model.precision * off, off, log_add(alpha[k] + model.stay, from + model.move));
        }
    }

    float total = alpha[0];
#pragma unroll
    for (int k = 1; k < STATES; ++k)
        total = log_add(total, alpha[k]);
    likelihood[read] = total;
}
