// For each customer of a shop, the best score among each 2048 of its articles: the product of their vectors of 64 signed bytes.
// A block takes 64 customers, 16 a warp, and 2048 articles, which it brings to shared memory 64 at a time.

constexpr int WORDS = 16;         // of four bytes each, a vector
constexpr int ROW = WORDS + 4;    // in shared memory
constexpr int CUSTOMERS = 64;
constexpr int ARTICLES = 64;
constexpr int CHUNK = 2048;

// Adds the products of 16 customers and 8 articles over 32 of their bytes.
__device__ __forceinline__ void multiply(int (&c)[4], const unsigned (&a)[4], unsigned b0, unsigned b1)
{
    asm("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

// 64 vectors from global to shared memory, by 128 threads.
__device__ __forceinline__ void bring(int* __restrict__ to, const unsigned* __restrict__ from)
{
#pragma unroll
    for (int n = 0; n < 2; ++n) {
        const int quad = threadIdx.x + 128 * n;
        *reinterpret_cast<int4*>(&to[quad / 4 * ROW + quad % 4 * 4]) = reinterpret_cast<const int4*>(from)[quad];
    }
}

// Launch: grid (articles / 2048, customers / 64), block 128.
extern "C" __global__ void __launch_bounds__(128)
suggest(const unsigned* __restrict__ customers, const unsigned* __restrict__ articles, int* __restrict__ best, int all_customers)
{
    __shared__ alignas(16) int offer[ARTICLES * ROW];
    const int lane = threadIdx.x % 32;
    const int group = lane / 4, t = lane % 4;
    const int customer = blockIdx.y * CUSTOMERS + threadIdx.x / 32 * 16 + group;

    unsigned a[2][4];
#pragma unroll
    for (int k = 0; k < 2; ++k)
#pragma unroll
        for (int r = 0; r < 4; ++r)
            a[k][r] = customers[(size_t)(customer + r % 2 * 8) * WORDS + k * 8 + t + r / 2 * 4];

    int top[2] = {-(1 << 30), -(1 << 30)};
#pragma unroll 1
    for (int first = 0; first < CHUNK; first += ARTICLES) {
        __syncthreads();
        bring(offer, articles + ((size_t)blockIdx.x * CHUNK + first) * WORDS);
        __syncthreads();

#pragma unroll
        for (int n = 0; n < ARTICLES; n += 8) {
            const int* b = &offer[(n + group) * ROW + t];
            int c[4] = {};
            multiply(c, a[0], b[0], b[4]);
            multiply(c, a[1], b[8], b[12]);
            top[0] = max(top[0], max(c[0], c[1]));
            top[1] = max(top[1], max(c[2], c[3]));
        }
    }

#pragma unroll
    for (int r = 0; r < 2; ++r) {
        top[r] = max(top[r], __shfl_xor_sync(0xffffffffu, top[r], 1));
        top[r] = max(top[r], __shfl_xor_sync(0xffffffffu, top[r], 2));
        if (t == 0)
            best[(size_t)blockIdx.x * all_customers + customer + 8 * r] = top[r];
    }
}
