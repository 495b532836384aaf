// Access pattern, step 1: each thread walks its own column.
//
// On a CPU this is the best order: a thread goes through memory in one direction and finds the next value in the
// cache. On a GPU the 32 lanes of a warp move together, each in a column of its own: a load touches 32 sectors and
// uses 8 bytes of each. L1 ought to keep the sectors until the lanes come to their other values, but with some 2000
// threads a multiprocessor it is asked to keep too many of them.

// Launch: grid ceil(C / 256), block 256. `field` and `diffused` are C columns of K consecutive levels.
extern "C" __global__ void diffuse_own_column(const double* field, double* diffused, int C, int K)
{
    const int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c >= C)
        return;
    const double* column = field + (size_t)c * K;
    double* result = diffused + (size_t)c * K;

    // The level below and this one are still in registers when the next level arrives. Ends are their own neighbours.
    double below = column[0];
    double here = below;
    for (int k = 0; k < K; ++k) {
        const double above = k + 1 < K ? column[k + 1] : here;
        result[k] = here + 0.25 * ((below - here) + (above - here));
        below = here;
        here = above;
    }
}
