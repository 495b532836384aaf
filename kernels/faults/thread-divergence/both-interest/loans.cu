// Loans under two conventions, even ones and odd ones. With IN_TURN a thread takes the loan of its own number, so that both
// conventions meet in every warp; without it the first half of the threads takes the even loans.

// Launch: blocks of any size that cover the loans.
extern "C" __global__ void accrue(const float* __restrict__ rate, float* __restrict__ owed, int n, int turns)
{
    const int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= n)
        return;
#ifdef IN_TURN
    const int i = t;
#else
    const int i = t < n / 2 ? 2 * t : 2 * (t - n / 2) + 1;
#endif
    float interest = rate[i], sum = 1.0f;
    if (i % 2 == 0) {
#pragma unroll 4
        for (int day = 0; day < turns; ++day) {
            sum = fmaf(sum, interest, sum);
            interest = fmaf(interest, 0.999f, 1e-7f);
            sum = fmaf(-1e-6f, sum * sum, sum);
        }
    } else {
#pragma unroll 4
        for (int month = 0; month < turns; ++month) {
            const float fee = fmaf(0.001f, sum, 0.0005f);
            sum = fmaf(sum, 1.002f, fee * interest);
            interest = fmaf(fee, -1e-5f, interest);
        }
    }
    owed[i] = sum;
}
