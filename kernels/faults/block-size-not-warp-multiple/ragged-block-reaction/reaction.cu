// A reaction at every node of a mesh, substep by substep. The kernel takes blocks of any size; one the size of an element
// leaves most lanes of its second warp without a node.

// Launch: blocks of any shape that cover the nodes.
extern "C" __global__ void react(const float* __restrict__ u, const float* __restrict__ v, float* __restrict__ u_next,
                                 float* __restrict__ v_next, int nodes, int substeps)
{
    const int threads = blockDim.x * blockDim.y;
    const int node = blockIdx.x * threads + threadIdx.y * blockDim.x + threadIdx.x;
    if (node >= nodes)
        return;
    float a = u[node], b = v[node];
#pragma unroll 4
    for (int step = 0; step < substeps; ++step) {
        const float rate = a * b * b;
        a = fmaf(0.1f, fmaf(-0.04f, a, 0.04f) - rate, a);
        b = fmaf(0.1f, fmaf(-0.1f, b, rate), b);
    }
    u_next[node] = a;
    v_next[node] = b;
}
