// The score of a read: the sum of its windows' weights.

extern "C" __global__ void __launch_bounds__(128)
score(const uint4* __restrict__ windows, const float* __restrict__ weights, float* __restrict__ scores, unsigned last)
{
    const unsigned read = blockIdx.x * 128 + threadIdx.x;
    const uint4 a = windows[2 * read], b = windows[2 * read + 1];
    scores[read] = ((weights[a.x & last] + weights[a.y & last]) + (weights[a.z & last] + weights[a.w & last])) +
                   ((weights[b.x & last] + weights[b.y & last]) + (weights[b.z & last] + weights[b.w & last]));
}
