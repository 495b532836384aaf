// Access pattern, step 2: a warp walks a column, its lanes side by side.
//
// The transposed mapping: lanes stand for levels and warps for columns, so that a load covers 256 consecutive bytes
// and uses all of them. A lane finds its neighbours' levels in L1 now instead of its own registers; three loads a
// value cost far less than 32 sectors a load did.

// Launch: grid ceil(C / 8), block (32, 8). `field` and `diffused` are C columns of K consecutive levels.
extern "C" __global__ void diffuse_across_lanes(const double* field, double* diffused, int C, int K)
{
    const int c = blockIdx.x * blockDim.y + threadIdx.y;
    if (c >= C)
        return;
    const double* column = field + (size_t)c * K;
    double* result = diffused + (size_t)c * K;

    for (int k = threadIdx.x; k < K; k += 32) {
        const double here = column[k];
        const double below = k > 0 ? column[k - 1] : here;
        const double above = k + 1 < K ? column[k + 1] : here;
        result[k] = here + 0.25 * ((below - here) + (above - here));
    }
}
