// Wave step, point by point: a thread for every point of the grid.
//
//     next = 2 cur - prev + vsq (the Laplacian of cur)
//
// The Laplacian is a star of 3 ORDER + 1 points, and each thread reads all of them from memory. Neighbours in x
// and y were asked for by threads of the same block, so L1 may still hold them; neighbours in z belong to other
// blocks and come from L2. The caches decide what a read costs, so one compiler flag that bypasses L1 (the
// step's side step) shows how much of the work L1 does.

#ifndef ORDER
#define ORDER 8  // of the error in the grid's spacing: 2, 4, 6, 8, 10 or 12
#endif
constexpr int RADIUS = ORDER / 2;

// Weights of a central second difference by distance (Fornberg, Mathematics of Computation 51, 1988).
__device__ constexpr float weight(int distance)
{
    constexpr double TABLE[6][7] = {
        {-2.0, 1.0},
        {-5.0 / 2, 4.0 / 3, -1.0 / 12},
        {-49.0 / 18, 3.0 / 2, -3.0 / 20, 1.0 / 90},
        {-205.0 / 72, 8.0 / 5, -1.0 / 5, 8.0 / 315, -1.0 / 560},
        {-5269.0 / 1800, 5.0 / 3, -5.0 / 21, 5.0 / 126, -5.0 / 1008, 1.0 / 3150},
        {-5369.0 / 1800, 12.0 / 7, -15.0 / 56, 10.0 / 189, -1.0 / 112, 2.0 / 1925, -1.0 / 16632},
    };
    return (float)TABLE[RADIUS - 1][distance];
}

// Launch: block 32 x 16, grid ceil(nx / 32) x ceil(ny / 16) x nz.
//
// cur               [nz + 2 RADIUS][ny + 2 RADIUS][pitch]: the grid with a halo on every side. A row begins 32 floats
//                   before its first point, so that the points themselves begin on a 128-byte line.
// prev, vsq, next   [nz][ny][nx], without a halo
//
// The pointers are not __restrict__: the compiler would use read-only loads, and its flag for the caches of plain
// loads would change nothing.
extern "C" __global__ void wave_by_points(const float* cur, const float* prev,
                                          const float* vsq, float* next,
                                          int nx, int ny, int nz)
{
    const int x = blockIdx.x * 32 + threadIdx.x;
    const int y = blockIdx.y * 16 + threadIdx.y;
    const int z = blockIdx.z;
    if (x >= nx || y >= ny)
        return;

    const size_t row = 32 + (nx + RADIUS + 31) / 32 * 32;
    const size_t plane = row * (ny + 2 * RADIUS);
    const float* c = cur + (z + RADIUS) * plane + (y + RADIUS) * row + 32 + x;

    float laplacian = 3 * weight(0) * c[0];
#pragma unroll
    for (int d = 1; d <= RADIUS; ++d)
        laplacian += weight(d) * ((c[-d] + c[d]) + (c[-d * (long)row] + c[d * row]) +
                                  (c[-d * (long)plane] + c[d * plane]));

    const size_t i = ((size_t)z * ny + y) * nx + x;
    next[i] = 2 * c[0] - prev[i] + vsq[i] * laplacian;
}
