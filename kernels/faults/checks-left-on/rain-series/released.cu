// A weather generator: what falls in many random series of days, each day of a kind that depends on the one before. The same
// code with its assertions compiled away.
#define CHECK(condition) ((void)0)

// Launch: grid (series / 256), block 256: a series per thread.
extern "C" __global__ void rain(const float4* __restrict__ weights, const float* __restrict__ amounts, float* __restrict__ total,
                                int days)
{
    // For each kind of day the chances of the next day's kinds, added up; and what falls on a day of each.
    __shared__ float4 limit[4];
    __shared__ float amount[4];
    if (threadIdx.x < 4) {
        const float4 weight = weights[threadIdx.x];
        const float all = weight.x + weight.y + weight.z + weight.w;
        limit[threadIdx.x] = make_float4(weight.x / all, (weight.x + weight.y) / all, (weight.x + weight.y + weight.z) / all, 1.0f);
        amount[threadIdx.x] = amounts[threadIdx.x];
    }
    __syncthreads();
    unsigned random = 747796405u * (blockIdx.x * 256 + threadIdx.x) + 2891336453u;
    int kind = random & 3;
    float sum = 0.0f;
    for (int day = 0; day < days; day++) {
        random = 1664525u * random + 1013904223u;
        const float chance = (random >> 8) * (1.0f / 16777216.0f);
        const float4 row = limit[kind];
        CHECK(row.x >= 0.0f && row.x <= row.y && row.y <= row.z && row.z <= row.w && row.w == 1.0f);
        kind = (chance >= row.x) + (chance >= row.y) + (chance >= row.z);
        CHECK(chance < row.w);
        CHECK(kind == 0 || chance >= (kind == 1 ? row.x : kind == 2 ? row.y : row.z));
        const float fallen = amount[kind];
        CHECK(fallen >= 0.0f && fallen < 1000.0f);
        CHECK(sum + fallen >= sum);
        sum += fallen;
    }
    total[blockIdx.x * 256 + threadIdx.x] = sum;
}
