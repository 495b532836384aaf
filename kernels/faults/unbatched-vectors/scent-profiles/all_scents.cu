// Electronic noses: how much each reading of the sensors is like the profile of a scent, as a scalar product. A block takes all eight scents of a nose:
// they are the columns of a matrix instruction, whose rows are 16 readings.

constexpr int READINGS = 256, SCENTS = 8, WARPS = 8, EACH = READINGS / WARPS, PIECES = 256 / 8, STEPS = PIECES / 4; // pieces of 16 bytes

__device__ __forceinline__ void multiply(float (&sum)[4], unsigned a0, unsigned a1, unsigned a2, unsigned a3, unsigned b0, unsigned b1)
{
    asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
        : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
}

// Launch: grid (noses), block 256: twice 16 readings per warp.
extern "C" __global__ void __launch_bounds__(256, 2)
compare(const uint4* __restrict__ reading, const uint4* __restrict__ scent, float* __restrict__ likeness)
{
    // Four lanes share a row. Each loads 16 bytes of every 64, which make two fragments: readings and scents take the sensors in the same order, so that
    // it doesn't matter that this is not the order of the instruction.
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, of_row = lane / 4, piece = lane % 4;
    uint4 profile[STEPS];
#pragma unroll
    for (int k = 0; k < STEPS; ++k)
        profile[k] = scent[((size_t)blockIdx.x * SCENTS + of_row) * PIECES + 4 * k + piece];
#pragma unroll 1
    for (int first = warp * EACH; first < (warp + 1) * EACH; first += 16) {
        const uint4* from = reading + ((size_t)blockIdx.x * READINGS + first + of_row) * PIECES + piece;
        uint4 upper[STEPS], lower[STEPS]; // rows 0 to 7 and 8 to 15
#pragma unroll
        for (int k = 0; k < STEPS; ++k) {
            upper[k] = from[4 * k];
            lower[k] = from[8 * PIECES + 4 * k];
        }
        float one[4] = {}, other[4] = {};
#pragma unroll
        for (int k = 0; k < STEPS; ++k) {
            multiply(one, upper[k].x, lower[k].x, upper[k].y, lower[k].y, profile[k].x, profile[k].y);
            multiply(other, upper[k].z, lower[k].z, upper[k].w, lower[k].w, profile[k].z, profile[k].w);
        }
        // A lane has two scents of two readings; the eight lanes with the same scents store 32 bytes in a row.
        float* to = likeness + ((size_t)blockIdx.x * SCENTS + 2 * piece) * READINGS + first + of_row;
        to[0] = one[0] + other[0];
        to[READINGS] = one[1] + other[1];
        to[8] = one[2] + other[2];
        to[READINGS + 8] = one[3] + other[3];
    }
}
