// Adds up the entries of user sessions in a log, a warp for each session. Most sessions are short, some are long: warps of
// a block that are done early keep their places until the last one is.

// Launch: grid sessions * 32 / block, any block of whole warps.
extern "C" __global__ void
sum_sessions(const unsigned* __restrict__ starts, const int* __restrict__ lengths, const float* __restrict__ entries,
             float* __restrict__ totals)
{
    const unsigned session = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    const float* entry = entries + starts[session] * 32 + threadIdx.x % 32;
    const int length = lengths[session];
    float total = 0.0f;
#pragma unroll 1
    for (int k = 0; k < length; ++k)
        total += entry[k * 32];
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2)
        total += __shfl_xor_sync(~0u, total, distance);
    if (threadIdx.x % 32 == 0)
        totals[session] = total;
}
