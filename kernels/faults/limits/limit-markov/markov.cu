// Distributions over 64 states after 256 steps of a Markov chain: 16 of them a warp, as rows of a matrix that is
// multiplied by the matrix of transitions again and again. All factors stay in registers; tensor cores do the rest.

constexpr int STEPS = 256;

// 16 x 8 results in half precision, of 16 x 16 and 16 x 8 factors.
__device__ void multiply(unsigned (&d)[2], const unsigned (&a)[4], const unsigned (&b)[2])
{
#if __CUDA_ARCH__ >= 800
    asm("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%0, %1}, {%2, %3, %4, %5}, {%6, %7}, {%0, %1};"
        : "+r"(d[0]), "+r"(d[1]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
#else
    asm("mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16 {%0, %1}, {%2, %3}, {%4}, {%0, %1};"
        : "+r"(d[0]), "+r"(d[1]) : "r"(a[0]), "r"(a[1]), "r"(b[0]));
    asm("mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16 {%0, %1}, {%2, %3}, {%4}, {%0, %1};"
        : "+r"(d[0]), "+r"(d[1]) : "r"(a[2]), "r"(a[3]), "r"(b[1]));
#endif
}

// Launch: grid distributions / 64, block 128. Words of two halves: transitions[to][from / 2], before and after
// [distribution][state / 2].
extern "C" __global__ void __launch_bounds__(128)
evolve(const unsigned* __restrict__ transitions, const unsigned* __restrict__ before, unsigned* __restrict__ after)
{
    const unsigned lane = threadIdx.x % 32, g = lane / 4, t = lane % 4;
    const size_t own = ((size_t)blockIdx.x * 64 + threadIdx.x / 32 * 16 + g) * 32 + t;

    unsigned b[4][8][2];  // the matrix: 16 states from, 8 states to
#pragma unroll
    for (int k = 0; k < 4; ++k)
#pragma unroll
        for (int n = 0; n < 8; ++n)
#pragma unroll
            for (int h = 0; h < 2; ++h)
                b[k][n][h] = transitions[(8 * n + g) * 32 + 8 * k + 4 * h + t];

    unsigned a[4][4];  // the distributions: 16 states each; a result of `multiply` is half of one
#pragma unroll
    for (int k = 0; k < 4; ++k)
#pragma unroll
        for (int h = 0; h < 4; ++h)
            a[k][h] = before[own + h % 2 * 8 * 32 + 8 * k + h / 2 * 4];

#pragma unroll 1
    for (int step = 0; step < STEPS; ++step) {
        unsigned d[8][2] = {};
#pragma unroll
        for (int k = 0; k < 4; ++k)
#pragma unroll
            for (int n = 0; n < 8; ++n)
                multiply(d[n], a[k], b[k][n]);
#pragma unroll
        for (int k = 0; k < 4; ++k)
#pragma unroll
            for (int h = 0; h < 4; ++h)
                a[k][h] = d[2 * k + h / 2][h % 2];
    }

#pragma unroll
    for (int k = 0; k < 4; ++k)
#pragma unroll
        for (int h = 0; h < 4; ++h)
            after[own + h % 2 * 8 * 32 + 8 * k + h / 2 * 4] = a[k][h];
}
