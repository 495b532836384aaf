// Attention scores Q K^T of one head after the other, 64 x 64 a block, by tensor instructions.

constexpr int TILE = 64;   // queries and keys a block
constexpr int DIM = 64;    // numbers in each
constexpr int PITCH = 36;  // words of two halves from row to row: 32 and a gap against bank conflicts

// Launch: grid (length / 64, length / 64, heads), block 128. q, k: heads of `length` rows of 64 halves.
extern "C" __global__ void __launch_bounds__(128, 6)
attend(const uint4* __restrict__ q, const uint4* __restrict__ k, float* __restrict__ scores, int length)
{
    __shared__ __align__(16) unsigned queries[TILE * PITCH], keys[TILE * PITCH];
    const int t = threadIdx.x;
    const size_t head = (size_t)blockIdx.z * length;
#pragma unroll
    for (int j = 0; j < 4; ++j) {
        const int row = j * 16 + t / 8, part = t % 8;
        *reinterpret_cast<uint4*>(&queries[row * PITCH + part * 4]) = q[(head + blockIdx.y * TILE + row) * 8 + part];
        *reinterpret_cast<uint4*>(&keys[row * PITCH + part * 4]) = k[(head + blockIdx.x * TILE + row) * 8 + part];
    }
    __syncthreads();
    float* out = scores + (head + blockIdx.y * TILE) * length + blockIdx.x * TILE;
    const int lane = t % 32, warp = t / 32;
    const int g = lane / 4, m = lane % 4;  // as the instruction deals its operands to lanes
    float sums[8][4] = {};
#pragma unroll 2
    for (int c = 0; c < DIM / 2; c += 4) {
        const unsigned upper = queries[(warp * 16 + g) * PITCH + c + m];
        const unsigned lower = queries[(warp * 16 + g + 8) * PITCH + c + m];
#pragma unroll
        for (int s = 0; s < 8; ++s)
            asm("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
                : "+f"(sums[s][0]), "+f"(sums[s][1]), "+f"(sums[s][2]), "+f"(sums[s][3])
                : "r"(upper), "r"(lower), "r"(keys[(s * 8 + g) * PITCH + c + m]));
    }
#pragma unroll
    for (int s = 0; s < 8; ++s) {
        float* at = out + (size_t)(warp * 16 + g) * length + s * 8 + 2 * m;
        *reinterpret_cast<float2*>(at) = make_float2(sums[s][0], sums[s][1]);
        *reinterpret_cast<float2*>(at + (size_t)8 * length) = make_float2(sums[s][2], sums[s][3]);
    }
}
