// A block's tile holds 512 votes, as many as a district has.
constexpr int THREADS = 128, EACH = 4, WARPS = THREADS / 32;

extern "C" __global__ void shares(const float* __restrict__ votes, float* __restrict__ shares, int lists)
{
    __shared__ float of_warp[WARPS];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const float* district = votes + (size_t)blockIdx.x * lists;
    float vote[EACH];
#pragma unroll
    for (int i = 0; i < EACH; ++i) {
        const int list = i * THREADS + threadIdx.x;
        vote[i] = list < lists ? district[list] : 0.0f;
    }
    float sum = 0;
#pragma unroll
    for (int i = 0; i < EACH; ++i) {
        vote[i] = vote[i] * vote[i] * vote[i];
        sum += vote[i];
    }
    for (int half = 16; half > 0; half /= 2) sum += __shfl_xor_sync(~0u, sum, half);
    if (lane == 0) of_warp[warp] = sum;
    __syncthreads();
    sum = 0;
#pragma unroll
    for (int i = 0; i < WARPS; ++i) sum += of_warp[i];
    const float scale = 1.0f / sum;
#pragma unroll
    for (int i = 0; i < EACH; ++i) {
        const int list = i * THREADS + threadIdx.x;
        if (list < lists) shares[(size_t)blockIdx.x * lists + list] = vote[i] * scale;
    }
}
