// Attention scores Q K^T of one head after the other, 64 x 64 a block, by multiply-adds of the plain pipes on halves that
// are converted first.

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
    const int tx = lane % 8, ty = warp * 4 + lane / 8;
    float sums[4][8] = {};
#pragma unroll 2
    for (int c = 0; c < DIM / 2; ++c) {
        float2 left[4], right[8];
#pragma unroll
        for (int r = 0; r < 4; ++r)
            asm("{.reg .b16 l, h; mov.b32 {l, h}, %2; cvt.f32.f16 %0, l; cvt.f32.f16 %1, h;}"
                : "=f"(left[r].x), "=f"(left[r].y) : "r"(queries[(r * 16 + ty) * PITCH + c]));
#pragma unroll
        for (int s = 0; s < 8; ++s)
            asm("{.reg .b16 l, h; mov.b32 {l, h}, %2; cvt.f32.f16 %0, l; cvt.f32.f16 %1, h;}"
                : "=f"(right[s].x), "=f"(right[s].y) : "r"(keys[(s * 8 + tx) * PITCH + c]));
#pragma unroll
        for (int r = 0; r < 4; ++r)
#pragma unroll
            for (int s = 0; s < 8; ++s)
                sums[r][s] = fmaf(left[r].y, right[s].y, fmaf(left[r].x, right[s].x, sums[r][s]));
    }
#pragma unroll
    for (int r = 0; r < 4; ++r)
#pragma unroll
        for (int s = 0; s < 8; ++s)
            out[(size_t)(r * 16 + ty) * length + s * 8 + tx] = sums[r][s];
}
