// Implicit bending of hair: each strand has 16 nodes, and the new positions follow from a tridiagonal system, which a
// thread solves for its strand by elimination. Global arrays hold the nodes plane by plane, strands side by side.

constexpr int THREADS = 128, NODES = 16;

#ifdef BY_STRAND
struct Sweep {
    float upper[THREADS][NODES], right[THREADS][NODES];
    __device__ float& u(int node) { return upper[threadIdx.x][node]; }
    __device__ float& r(int node) { return right[threadIdx.x][node]; }
};
#else
struct Sweep {
    float upper[NODES][THREADS], right[NODES][THREADS];
    __device__ float& u(int node) { return upper[node][threadIdx.x]; }
    __device__ float& r(int node) { return right[node][threadIdx.x]; }
};
#endif

// Launch: grid over the strands, block 128. `nodes` is at most 16.
extern "C" __global__ void __launch_bounds__(THREADS)
bend(const float* __restrict__ position, const float* __restrict__ stiffness, float* __restrict__ bent, int strands,
     int nodes)
{
    __shared__ Sweep sweep;
    const int strand = blockIdx.x * THREADS + threadIdx.x;
    if (strand >= strands)
        return;
    const float k = stiffness[strand], diagonal = 1.0f + 2.0f * k;

    float u = 0.0f, r = 0.0f;
#pragma unroll 4
    for (int node = 0; node < nodes; ++node) {
        const float scale = __fdividef(1.0f, fmaf(k, u, diagonal));
        u = -k * scale;
        r = fmaf(k, r, position[(size_t)node * strands + strand]) * scale;
        sweep.u(node) = u;
        sweep.r(node) = r;
    }
    float x = 0.0f;
#pragma unroll 4
    for (int node = nodes - 1; node >= 0; --node) {
        x = fmaf(-sweep.u(node), x, sweep.r(node));
        bent[(size_t)node * strands + strand] = x;
    }
}
