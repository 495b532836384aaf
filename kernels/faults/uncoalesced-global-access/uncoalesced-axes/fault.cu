// Virtual temperature on a grid. The block's first axis runs down the columns: a warp touches a double in each of 32
// rows, and the other seven warps of the block come back for the rest of the sectors.

// Launch: block (32, 8), the grid over the field. t, q, tv: ny rows of nx doubles.
extern "C" __global__ void virtual_temperature(const double* t, const double* q, double* tv, int nx, int ny)
{
    const int x = blockIdx.x * 8 + threadIdx.y;
    const int y = blockIdx.y * 32 + threadIdx.x;
    if (x < nx && y < ny) {
        const size_t i = (size_t)y * nx + x;
        tv[i] = t[i] * (1.0 + 0.61 * q[i]);
    }
}
