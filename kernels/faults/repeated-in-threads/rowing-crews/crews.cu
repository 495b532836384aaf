// Strokes of rowers, a block per crew: each one's force beside the crew's mean and its root mean square. All threads add up the
// crew's forces, each for itself, or each adds a part of them.

#define CREW 256

#ifdef ALL_ALIKE
static __device__ __forceinline__ float2 sums(const float* __restrict__ forces, float)
{
    float all = 0, squares = 0;
    for (int i = 0; i < CREW; ++i) {
        all += forces[i];
        squares = fmaf(forces[i], forces[i], squares);
    }
    return make_float2(all, squares);
}
#else
static __device__ __forceinline__ float2 sums(const float* __restrict__, float own)
{
    __shared__ float2 of_warps[CREW / 32];
    float2 sum = make_float2(own, own * own);
    for (int other = 16; other > 0; other /= 2) {
        sum.x += __shfl_xor_sync(~0u, sum.x, other);
        sum.y += __shfl_xor_sync(~0u, sum.y, other);
    }
    if (threadIdx.x % 32 == 0)
        of_warps[threadIdx.x / 32] = sum;
    __syncthreads();
    sum = make_float2(0, 0);
#pragma unroll
    for (int warp = 0; warp < CREW / 32; ++warp) {
        sum.x += of_warps[warp].x;
        sum.y += of_warps[warp].y;
    }
    return sum;
}
#endif

// Launch: grid crews, block CREW.
extern "C" __global__ void __launch_bounds__(CREW)
compare(const float* __restrict__ forces, float* __restrict__ beside)
{
    __shared__ float of_crew[CREW];
    const int i = blockIdx.x * CREW + threadIdx.x;
    const float own = forces[i];
    of_crew[threadIdx.x] = own;
    __syncthreads();
    const float2 sum = sums(of_crew, own);
    beside[i] = own / (sum.x / CREW + sqrtf(sum.y / CREW));
}
