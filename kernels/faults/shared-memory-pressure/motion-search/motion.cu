// Motion search of a video encoder: for each 8 x 8 patch of the current frame, the displacement of -16 .. 15 both ways at which
// the sum of absolute differences from the previous frame is smallest (of equals, the first). A block takes a patch, and a
// thread four displacements below each other.

constexpr int PATCH = 8;
constexpr int RANGE = 32;
constexpr int WINDOW = RANGE + PATCH - 1;
constexpr int PITCH = WINDOW + 1;
constexpr int EACH = 4;

__device__ unsigned long long first_of(unsigned long long a, unsigned long long b)
{
    return a < b ? a : b;
}

__device__ unsigned long long key(float sum, int at)
{
    return (unsigned long long)__float_as_uint(sum) << 32 | at;
}

// Launch: grid of patches, block 32 x 8. The sides of the frame are multiples of 8.
extern "C" __global__ void __launch_bounds__(256)
search(const float* __restrict__ current, const float* __restrict__ previous, float* __restrict__ least,
       int* __restrict__ vector, int width, int height)
{
    __shared__ float patch[PATCH][PATCH];
    __shared__ float window[WINDOW][PITCH];
    __shared__ unsigned long long best[8];

    const int left = blockIdx.x * PATCH, top = blockIdx.y * PATCH;
    const int thread = threadIdx.y * 32 + threadIdx.x;
    if (thread < PATCH * PATCH)
        patch[thread / PATCH][thread % PATCH] = current[(top + thread / PATCH) * width + left + thread % PATCH];
    for (int y = threadIdx.y; y < WINDOW; y += 8) {
        const int row = min(max(top + y - RANGE / 2, 0), height - 1);
        for (int x = threadIdx.x; x < WINDOW; x += 32)
            window[y][x] = previous[row * width + min(max(left + x - RANGE / 2, 0), width - 1)];
    }
    __syncthreads();

    const int dx = threadIdx.x, dy = threadIdx.y * EACH;
    unsigned long long own = ~0ull;
#ifdef ONE_BY_ONE
#pragma unroll 1
    for (int k = 0; k < EACH; ++k) {
        float sum = 0.0f;
#pragma unroll 1
        for (int x = 0; x < PATCH; ++x)
#pragma unroll
            for (int y = 0; y < PATCH; ++y)
                sum += fabsf(patch[y][x] - window[dy + k + y][dx + x]);
        own = first_of(own, key(sum, (dy + k) * RANGE + dx));
    }
#else
    float sum[EACH] = {};
#pragma unroll 1
    for (int x = 0; x < PATCH; ++x) {
        float column[PATCH + EACH - 1];
#pragma unroll
        for (int y = 0; y < PATCH + EACH - 1; ++y)
            column[y] = window[dy + y][dx + x];
#pragma unroll
        for (int y = 0; y < PATCH; ++y) {
            const float pixel = patch[y][x];
#pragma unroll
            for (int k = 0; k < EACH; ++k)
                sum[k] += fabsf(pixel - column[y + k]);
        }
    }
#pragma unroll
    for (int k = 0; k < EACH; ++k)
        own = first_of(own, key(sum[k], (dy + k) * RANGE + dx));
#endif

#pragma unroll
    for (int other = 16; other > 0; other /= 2)
        own = first_of(own, __shfl_xor_sync(~0u, own, other));
    if (threadIdx.x == 0)
        best[threadIdx.y] = own;
    __syncthreads();
    if (thread == 0) {
        for (int k = 1; k < 8; ++k)
            own = first_of(own, best[k]);
        const int at = blockIdx.y * gridDim.x + blockIdx.x;
        least[at] = __uint_as_float((unsigned)(own >> 32));
        vector[at] = (int)(own & (RANGE * RANGE - 1));
    }
}
