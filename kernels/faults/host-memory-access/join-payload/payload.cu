// The last stage of a join: rows of 32 columns are fetched by the list of matches and scaled by the match's weight.

// Launch: a warp for 32 matches, block 192.
extern "C" __global__ void __launch_bounds__(192)
fetch(const unsigned* __restrict__ match, const float* __restrict__ weight, const float* __restrict__ table,
      float* __restrict__ joined, int matches)
{
    const int lane = threadIdx.x % 32;
    const int first = (blockIdx.x * 192 + threadIdx.x) / 32 * 32;
    if (first >= matches)
        return;
    const bool there = first + lane < matches;
    const unsigned row = there ? match[first + lane] : 0;
    const float scale = there ? weight[first + lane] : 0.0f;
    const int count = min(32, matches - first);
#pragma unroll 8
    for (int m = 0; m < count; ++m) {
        const unsigned from = __shfl_sync(~0u, row, m);
        const float by = __shfl_sync(~0u, scale, m);
        joined[(size_t)(first + m) * 32 + lane] = by * table[(size_t)from * 32 + lane];
    }
}
