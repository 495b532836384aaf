// What a sensor's response curve makes of each pixel at many exposures, added up: a polynomial in half precision an
// exposure. A thread has two pixels, in the halves of a word. SCALAR takes one after the other, an instruction for each
// half; the other takes both at once.

constexpr int TERMS = 8;
constexpr int MOST = 64;  // exposures

#ifdef SCALAR
using Pixels = unsigned short;
#define MULTIPLY_ADD(a, b, c, d) asm("fma.rn.f16 %0, %1, %2, %3;" : "=h"(d) : "h"(a), "h"(b), "h"(c))
#else
using Pixels = unsigned;
#define MULTIPLY_ADD(a, b, c, d) asm("fma.rn.f16x2 %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(c))
#endif

// Launch: grid pixels / 640, block 320. curve: coefficients; exposures: a factor and a weight each.
extern "C" __global__ void __launch_bounds__(320)
expose(const unsigned* __restrict__ pixels, const unsigned short* __restrict__ curve,
       const unsigned short* __restrict__ exposures, unsigned* __restrict__ result, int count)
{
    __shared__ uint2 steps[MOST];  // each number twice, one a half
    if (threadIdx.x < count)
        steps[threadIdx.x] = make_uint2(exposures[2 * threadIdx.x] * 0x10001u, exposures[2 * threadIdx.x + 1] * 0x10001u);
    __syncthreads();

    Pixels terms[TERMS];
#pragma unroll
    for (int k = 0; k < TERMS; ++k)
        terms[k] = (Pixels)(curve[k] * 0x10001u);
    const unsigned i = blockIdx.x * 320 + threadIdx.x;
    unsigned both = pixels[i];
#pragma unroll 1
    for (int turn = 0; turn < 4 / sizeof(Pixels); ++turn) {
        const Pixels pixel = (Pixels)both, zero = 0;
        Pixels sum = 0;
#pragma unroll 1
        for (int e = 0; e < count; ++e) {
            const Pixels factor = (Pixels)steps[e].x, weight = (Pixels)steps[e].y;
            Pixels light, value = terms[TERMS - 1];
            MULTIPLY_ADD(pixel, factor, zero, light);
#pragma unroll
            for (int k = TERMS - 2; k >= 0; --k)
                MULTIPLY_ADD(value, light, terms[k], value);
            MULTIPLY_ADD(value, weight, sum, sum);
        }
#ifdef SCALAR
        // The other pixel's turn; after both turns the halves are in their places again.
        both = both >> 16 | (unsigned)sum << 16;
#else
        both = sum;
#endif
    }
    result[i] = both;
}
