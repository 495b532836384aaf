// Sums of 32 random rows of an embedding table. Each row is a whole line of 128 bytes, read by eight lanes 16 bytes each,
// and comes from L2, whose rate is the limit: the order is random, and L1 holds a sixtieth of the table.

// Launch: grid bags / 32, block 256. Eight lanes share a bag.
extern "C" __global__ void __launch_bounds__(256)
sum_bags(const float4* __restrict__ table, const uint4* __restrict__ rows, float4* __restrict__ bags)
{
    const unsigned bag = blockIdx.x * 32 + threadIdx.x / 8;
    const unsigned part = threadIdx.x % 8;
    const uint4* wanted = rows + (size_t)bag * 8;
    float4 sum = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
#pragma unroll 1
    for (int k = 0; k < 8; k += 2) {
        const uint4 a = wanted[k], b = wanted[k + 1];
        const unsigned row[8] = {a.x, a.y, a.z, a.w, b.x, b.y, b.z, b.w};
        float4 values[8];
#pragma unroll
        for (int j = 0; j < 8; ++j)
            values[j] = table[row[j] * 8 + part];
#pragma unroll
        for (int j = 0; j < 8; ++j) {
            sum.x += values[j].x;
            sum.y += values[j].y;
            sum.z += values[j].z;
            sum.w += values[j].w;
        }
    }
    bags[(size_t)bag * 8 + part] = sum;
}
