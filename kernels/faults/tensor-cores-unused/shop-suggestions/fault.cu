// For each customer of a shop, the best score among each 2048 of its articles: the product of their vectors of 64 signed bytes.
// A block takes 64 customers and 2048 articles, which it brings to shared memory 64 at a time.

constexpr int WORDS = 16;         // of four bytes each, a vector
constexpr int ROW = WORDS + 4;    // in shared memory
constexpr int CUSTOMERS = 64;
constexpr int ARTICLES = 64;
constexpr int CHUNK = 2048;

__device__ __forceinline__ int dot(int4 a, int4 b, int sum)
{
    sum = __dp4a(a.x, b.x, sum);
    sum = __dp4a(a.y, b.y, sum);
    sum = __dp4a(a.z, b.z, sum);
    return __dp4a(a.w, b.w, sum);
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
    __shared__ alignas(16) int wish[CUSTOMERS * ROW];
    __shared__ alignas(16) int offer[ARTICLES * ROW];
    const int tx = threadIdx.x % 16, ty = threadIdx.x / 16;

    bring(wish, customers + (size_t)blockIdx.y * CUSTOMERS * WORDS);
    int top[8];
#pragma unroll
    for (int u = 0; u < 8; ++u)
        top[u] = -(1 << 30);

#pragma unroll 1
    for (int first = 0; first < CHUNK; first += ARTICLES) {
        __syncthreads();
        bring(offer, articles + ((size_t)blockIdx.x * CHUNK + first) * WORDS);
        __syncthreads();

        int score[8][4] = {};
#pragma unroll
        for (int q = 0; q < WORDS; q += 4) {
            int4 b[4];
#pragma unroll
            for (int v = 0; v < 4; ++v)
                b[v] = *reinterpret_cast<const int4*>(&offer[(tx + 16 * v) * ROW + q]);
#pragma unroll
            for (int u = 0; u < 8; ++u) {
                const int4 a = *reinterpret_cast<const int4*>(&wish[(ty + 8 * u) * ROW + q]);
#pragma unroll
                for (int v = 0; v < 4; ++v)
                    score[u][v] = dot(a, b[v], score[u][v]);
            }
        }
#pragma unroll
        for (int u = 0; u < 8; ++u)
            top[u] = max(top[u], max(max(score[u][0], score[u][1]), max(score[u][2], score[u][3])));
    }

#pragma unroll
    for (int u = 0; u < 8; ++u) {
#pragma unroll
        for (int step = 8; step > 0; step /= 2)
            top[u] = max(top[u], __shfl_xor_sync(0xffffffffu, top[u], step));
        if (tx == 0)
            best[(size_t)blockIdx.x * all_customers + blockIdx.y * CUSTOMERS + ty + 8 * u] = top[u];
    }
}
