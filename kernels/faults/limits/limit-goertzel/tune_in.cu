// How strong many frequencies are in a signal, by Goertzel's recurrence, whose error grows with the square of the
// length where frequencies are low: it needs doubles. An addition and a multiply-add a sample, four frequencies a
// thread.

constexpr int THREADS = 128;
constexpr int PIECE = 1024;  // samples in shared memory at a time
constexpr int EACH = 4;      // frequencies of a thread

// Launch: grid frequencies / 512, block 128. factors: twice the cosine of each frequency. samples is a multiple of 1024.
extern "C" __global__ void __launch_bounds__(THREADS)
tune_in(const double* __restrict__ signal, const double* __restrict__ factors, double* __restrict__ powers, int samples)
{
    __shared__ __align__(16) double piece[PIECE];
    const int i = blockIdx.x * THREADS * EACH + threadIdx.x;
    double factor[EACH], last[EACH] = {}, older[EACH] = {};
#pragma unroll
    for (int f = 0; f < EACH; ++f)
        factor[f] = factors[i + f * THREADS];
#pragma unroll 1
    for (int first = 0; first < samples; first += PIECE) {
        __syncthreads();
#pragma unroll
        for (int k = 0; k < PIECE; k += THREADS)
            piece[k + threadIdx.x] = signal[first + k + threadIdx.x];
        __syncthreads();
#pragma unroll 4
        for (int k = 0; k < PIECE; k += 2) {
            const double2 two = *(const double2*)&piece[k];
#pragma unroll
            for (int f = 0; f < EACH; ++f) {
                older[f] = factor[f] * last[f] + (two.x - older[f]);
                last[f] = factor[f] * older[f] + (two.y - last[f]);
            }
        }
    }
#pragma unroll
    for (int f = 0; f < EACH; ++f)
        powers[i + f * THREADS] = last[f] * last[f] + older[f] * older[f] - factor[f] * last[f] * older[f];
}
