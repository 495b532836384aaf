// Places of satellites along their orbit: sums of Chebyshev polynomials by Clenshaw's recurrence, in double precision,
// which a millimetre in a million kilometres needs. Two times a thread keep the double-precision pipe full.

constexpr int DEGREE = 255;
constexpr int TIMES = 2;

// Launch: grid times / 512, block 256.
extern "C" __global__ void __launch_bounds__(256)
place(const double* __restrict__ times, const double* __restrict__ weights, double* __restrict__ places)
{
    const size_t first = (size_t)blockIdx.x * 256 * TIMES + threadIdx.x;
    double x[TIMES], one[TIMES], two[TIMES];
#pragma unroll
    for (int k = 0; k < TIMES; ++k) {
        x[k] = times[first + k * 256];
        one[k] = two[k] = 0.0;
    }
#pragma unroll 8
    for (int degree = DEGREE; degree > 0; --degree) {
        const double weight = weights[degree];
#pragma unroll
        for (int k = 0; k < TIMES; ++k) {
            const double next = 2.0 * x[k] * one[k] + (weight - two[k]);
            two[k] = one[k];
            one[k] = next;
        }
    }
#pragma unroll
    for (int k = 0; k < TIMES; ++k)
        places[first + k * 256] = x[k] * one[k] + (weights[0] - two[k]);
}
