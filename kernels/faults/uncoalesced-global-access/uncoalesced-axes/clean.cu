// Virtual temperature on a grid. The block's first axis runs along the rows, as the array does.

// Launch: block (32, 8), the grid over the field. t, q, tv: ny rows of nx doubles.
extern "C" __global__ void virtual_temperature(const double* t, const double* q, double* tv, int nx, int ny)
{
    const int x = blockIdx.x * 32 + threadIdx.x;
    const int y = blockIdx.y * 8 + threadIdx.y;
    if (x < nx && y < ny) {
        const size_t i = (size_t)y * nx + x;
        tv[i] = t[i] * (1.0 + 0.61 * q[i]);
    }
}
