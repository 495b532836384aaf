// Expected number of wrong bases in sequencing reads: the error probabilities of their Phred qualities, added up. Qualities lie cycle by
// cycle, as the machine delivers them; each thread takes four reads.

// 10 ^ (-q / 10)
__constant__ float probability[42] = {
    1.0f, 0.794328235f, 0.630957344f, 0.501187234f, 0.398107171f, 0.316227766f, 0.251188643f, 0.199526231f,
    0.158489319f, 0.125892541f, 0.1f, 0.0794328235f, 0.0630957344f, 0.0501187234f, 0.0398107171f, 0.0316227766f,
    0.0251188643f, 0.0199526231f, 0.0158489319f, 0.0125892541f, 0.01f, 0.00794328235f, 0.00630957344f,
    0.00501187234f, 0.00398107171f, 0.00316227766f, 0.00251188643f, 0.00199526231f, 0.00158489319f,
    0.00125892541f, 0.001f, 0.000794328235f, 0.000630957344f, 0.000501187234f, 0.000398107171f, 0.000316227766f,
    0.000251188643f, 0.000199526231f, 0.000158489319f, 0.000125892541f, 0.0001f, 7.94328235e-05f};

// Launch: block 256 over quarters of the reads.
extern "C" __global__ void __launch_bounds__(256)
expected_errors(const unsigned* __restrict__ quality, float4* __restrict__ errors, int quarters, int cycles)
{
#ifdef STAGED
    __shared__ float table[42];
    if (threadIdx.x < 42)
        table[threadIdx.x] = probability[threadIdx.x];
    __syncthreads();
#else
    const float* table = probability;
#endif
    const int i = blockIdx.x * 256 + threadIdx.x;
    if (i >= quarters)
        return;
    float4 sum = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
#pragma unroll 5
    for (int c = 0; c < cycles; ++c) {
        const unsigned four = quality[(size_t)c * quarters + i];
        sum.x += table[four & 63];
        sum.y += table[four >> 8 & 63];
        sum.z += table[four >> 16 & 63];
        sum.w += table[four >> 24 & 63];
    }
    errors[i] = sum;
}
