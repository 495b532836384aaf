// Electronic noses: how much each reading of the sensors is like the profile of a scent, as a scalar product. A block takes one scent of a nose and goes
// through all of the nose's readings, a row of 256 halves per warp.

constexpr int READINGS = 256, SCENTS = 8, WARPS = 8, EACH = READINGS / WARPS, PIECES = 256 / 8; // pieces of 16 bytes, one per lane

__device__ __forceinline__ void widen_two(float& low, float& high, unsigned both)
{
    asm("{ .reg .f16 a, b; mov.b32 {a, b}, %2; cvt.f32.f16 %0, a; cvt.f32.f16 %1, b; }" : "=f"(low), "=f"(high) : "r"(both));
}

__device__ __forceinline__ void widen(float (&to)[8], uint4 from)
{
    widen_two(to[0], to[1], from.x);
    widen_two(to[2], to[3], from.y);
    widen_two(to[4], to[5], from.z);
    widen_two(to[6], to[7], from.w);
}

// Launch: grid (8 scents, noses), block 256: 32 readings per warp.
extern "C" __global__ void __launch_bounds__(256)
compare(const uint4* __restrict__ reading, const uint4* __restrict__ scent, float* __restrict__ likeness)
{
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const size_t of_scent = (size_t)blockIdx.y * SCENTS + blockIdx.x;
    float profile[8];
    widen(profile, scent[of_scent * PIECES + lane]);
    const uint4* from = reading + ((size_t)blockIdx.y * READINGS + warp * EACH) * PIECES + lane;
    float mine = 0.0f; // of the reading with this lane's number
#pragma unroll 4
    for (int row = 0; row < EACH; ++row) {
        float value[8];
        widen(value, from[row * PIECES]);
        float sum = 0.0f;
#pragma unroll
        for (int i = 0; i < 8; ++i)
            sum += profile[i] * value[i];
#pragma unroll
        for (int step = 16; step > 0; step /= 2)
            sum += __shfl_xor_sync(~0u, sum, step);
        mine = row == lane ? sum : mine;
    }
    likeness[of_scent * READINGS + warp * EACH + lane] = mine;
}
