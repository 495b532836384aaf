// Matrix product, step 3: tiles in shared memory.
//
// In step 2 every product fetches both of its operands through the caches. Here a block of 16 x 16 threads brings
// a 16 x 16 tile of A and one of B into shared memory and uses each element 16 times. Global traffic falls by 16;
// what is left is two shared-memory loads for every multiply-add.

constexpr int TILE = 16;

// m3.cu with parts left out, for `adoprof limiter`; lines added there would move those that recordings name.
// Without accesses to global memory a load gives the bits of its address, and a store waits for a value that never
// comes, which the compiler can't know.
#ifdef ARITHMETIC_ONLY
#define LOAD(from) __int_as_float((int)(size_t)(from))
#define STORE(to, value) do { if ((value) == -1.5e-38f) *(to) = (value); } while (0)
#else
#define LOAD(from) (*(from))
#define STORE(to, value) (*(to) = (value))
#endif
#ifdef NO_BARRIER
#define BARRIER()
#else
#define BARRIER() __syncthreads()
#endif

// Launch: grid (ceil(n / 16), ceil(n / 16)), block (16, 16).
extern "C" __global__ void __launch_bounds__(TILE * TILE)
multiply_tiles(const float* __restrict__ A, const float* __restrict__ B, float* __restrict__ C, int n)
{
    [[maybe_unused]] __shared__ float a[TILE][TILE];
    [[maybe_unused]] __shared__ float b[TILE][TILE];
    const int tx = threadIdx.x;
    const int ty = threadIdx.y;
    const int row = blockIdx.y * TILE + ty;
    const int col = blockIdx.x * TILE + tx;

    float sum = 0.0f;
    for (int k0 = 0; k0 < n; k0 += TILE) {
        // What lies outside the matrices counts as zero.
#ifdef MEMORY_ONLY
        sum += (row < n && k0 + tx < n ? A[(size_t)row * n + k0 + tx] : 0.0f) +
               (k0 + ty < n && col < n ? B[(size_t)(k0 + ty) * n + col] : 0.0f);
#else
        a[ty][tx] = row < n && k0 + tx < n ? LOAD(A + (size_t)row * n + k0 + tx) : 0.0f;
        b[ty][tx] = k0 + ty < n && col < n ? LOAD(B + (size_t)(k0 + ty) * n + col) : 0.0f;
        BARRIER();

        for (int k = 0; k < TILE; ++k)
            sum += a[ty][k] * b[k][tx];
        BARRIER();  // before the next tiles overwrite these
#endif
    }
    if (row < n && col < n)
        STORE(C + (size_t)row * n + col, sum);
}
