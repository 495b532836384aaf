// Access pattern, step 3: through the read-only path.
//
// Step 2 with loads that promise that nobody writes the field during this kernel. On the first GPUs with caches this
// went through the texture cache, beside L1 and with smaller lines. Since Volta both are one cache. What is left is
// what the promise tells the compiler: that loads may move up across stores. It unrolls the loop, and the loads of
// several rounds leave before the first store. All of the step's gain on an H200 comes from there: with the loop
// kept as it is, the step is as slow as step 2.

// Launch: as in step 2.
extern "C" __global__ void diffuse_read_only(const double* __restrict__ field, double* __restrict__ diffused, int C,
                                             int K)
{
    const int c = blockIdx.x * blockDim.y + threadIdx.y;
    if (c >= C)
        return;
    const double* column = field + (size_t)c * K;
    double* result = diffused + (size_t)c * K;

    for (int k = threadIdx.x; k < K; k += 32) {
        const double here = __ldg(column + k);
        const double below = k > 0 ? __ldg(column + k - 1) : here;
        const double above = k + 1 < K ? __ldg(column + k + 1) : here;
        result[k] = here + 0.25 * ((below - here) + (above - here));
    }
}
