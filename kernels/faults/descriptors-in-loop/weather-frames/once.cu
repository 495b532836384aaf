// Weather: the mean of each box of 32 by 32 points of a frame. Blocks of 256 threads go through the boxes; one
// descriptor stands for all frames, one below the other.

// A descriptor of 128 bytes in shared memory: rows of so many floats, boxes of 32 by 32.
__device__ void describe(unsigned at, const float* from, unsigned columns, unsigned rows)
{
    asm volatile("tensormap.replace.tile.global_address.shared::cta.b1024.b64 [%0], %1;" ::"r"(at), "l"(from) : "memory");
    asm volatile("tensormap.replace.tile.rank.shared::cta.b1024.b32 [%0], 1;" ::"r"(at) : "memory");
    asm volatile("tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [%0], 0, 32;" ::"r"(at) : "memory");
    asm volatile("tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [%0], 1, 32;" ::"r"(at) : "memory");
    asm volatile("tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [%0], 0, %1;" ::"r"(at), "r"(columns) : "memory");
    asm volatile("tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [%0], 1, %1;" ::"r"(at), "r"(rows) : "memory");
    asm volatile("tensormap.replace.tile.global_stride.shared::cta.b1024.b64 [%0], 0, %1;" ::"r"(at), "l"(4ULL * columns) : "memory");
    asm volatile("tensormap.replace.tile.element_stride.shared::cta.b1024.b32 [%0], 0, 1;" ::"r"(at) : "memory");
    asm volatile("tensormap.replace.tile.element_stride.shared::cta.b1024.b32 [%0], 1, 1;" ::"r"(at) : "memory");
    asm volatile("tensormap.replace.tile.elemtype.shared::cta.b1024.b32 [%0], 7;" ::"r"(at) : "memory");
    asm volatile("tensormap.replace.tile.interleave_layout.shared::cta.b1024.b32 [%0], 0;" ::"r"(at) : "memory");
    asm volatile("tensormap.replace.tile.swizzle_mode.shared::cta.b1024.b32 [%0], 0;" ::"r"(at) : "memory");
    asm volatile("tensormap.replace.tile.fill_mode.shared::cta.b1024.b32 [%0], 0;" ::"r"(at) : "memory");
}

// By a whole warp: from shared to global memory, and to the unit that copies tiles.
__device__ void publish(unsigned at, void* to)
{
    asm volatile("tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%0], [%1], 128;" ::"l"(to), "r"(at) : "memory");
    asm volatile("fence.proxy.tensormap::generic.acquire.gpu [%0], 128;" ::"l"(to) : "memory");
}

__device__ unsigned shared_address(const void* of) { return (unsigned)__cvta_generic_to_shared(of); }

__device__ void load_box(unsigned to, const void* descriptor, int column, int row, unsigned arrived)
{
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 4096;" ::"r"(arrived) : "memory");
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::"r"(to),
                 "l"(descriptor), "r"(column), "r"(row), "r"(arrived)
                 : "memory");
}

__device__ void wait_for(unsigned arrived, unsigned phase)
{
    unsigned done = 0;
    while (!done)
        asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
                     : "=r"(done)
                     : "r"(arrived), "r"(phase)
                     : "memory");
}

// Launch: grid (blocks), block 256.
extern "C" __global__ void __launch_bounds__(256) means(const float* frames, float* mean, uint4* descriptors, int side, int boxes)
{
    __shared__ alignas(128) unsigned field[32];
    __shared__ alignas(128) float box[1024];
    __shared__ float of_warps[8];
    __shared__ alignas(8) unsigned long long barrier;
    uint4* const mine = descriptors + blockIdx.x * 8;
    const unsigned arrived = shared_address(&barrier);
    if (threadIdx.x < 32)
        field[threadIdx.x] = 0;
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(arrived) : "memory");
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    __syncthreads();
    if (threadIdx.x < 32) {
        if (threadIdx.x == 0)
            describe(shared_address(field), frames, side, boxes / (side / 32) * 32);
        __syncwarp();
        publish(shared_address(field), mine);
    }
    __syncthreads();
    const int across = side / 32;
    unsigned phase = 0;
    for (int at = blockIdx.x; at < boxes; at += gridDim.x) {
        if (threadIdx.x == 0)
            load_box(shared_address(box), mine, at % across * 32, at / across * 32, arrived);
        wait_for(arrived, phase);
        phase ^= 1;
        const float4 four = reinterpret_cast<const float4*>(box)[threadIdx.x];
        float sum = four.x + four.y + four.z + four.w;
        for (int step = 16; step > 0; step /= 2)
            sum += __shfl_xor_sync(~0u, sum, step);
        if (threadIdx.x % 32 == 0)
            of_warps[threadIdx.x / 32] = sum;
        __syncthreads();
        if (threadIdx.x == 0) {
            float all = 0.0f;
            for (int warp = 0; warp < 8; warp++)
                all += of_warps[warp];
            mean[at] = all / 1024.0f;
        }
    }
}
