// Wave step, plane by plane: a block marches through the grid in z and keeps what it has read.
//
// A block owns a tile of x and y and walks along z. Each thread holds its own column of the star in registers, so
// that the neighbours in z are read once and handed on from plane to plane; the plane in the middle lies in shared
// memory with its halo, for the neighbours in x and y. Against the step by points, a value is read from memory once
// and a little more (the halos) where it was asked for 3 ORDER + 1 times.
//
// Compiled with POINTS=2 a thread computes two points, ROWS apart in y: twice the loads in flight a thread, half the
// index arithmetic a point, and a tile of twice the height, of which the halo is a smaller part.

#ifndef ORDER
#define ORDER 8  // of the error in the grid's spacing: 2, 4, 6, 8, 10 or 12
#endif
#ifndef ROWS
#define ROWS 16  // rows of 32 threads in a block, at least ORDER / 2
#endif
#ifndef POINTS
#define POINTS 1  // a thread
#endif
constexpr int RADIUS = ORDER / 2;
constexpr int WIDTH = 32;
constexpr int HEIGHT = ROWS * POINTS;
static_assert(ROWS >= RADIUS, "one pass of the block's rows fetches a halo");

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

// plane.cu with parts left out, for `adoprof limiter`; lines added there would move those that recordings name.
// Without accesses to global memory a load gives the bits of its address, and a store waits for a value that never
// comes, which the compiler can't know.
#ifdef ARITHMETIC_ONLY
#define LOAD(from) __int_as_float((int)(size_t)(from))
#define STORE(to, value) do { if ((value) == -1.5e-38f) *(to) = (value); } while (0)
#elif defined(STORE_ONLY)
#define LOAD(from) 0.0f
#define STORE(to, value) (*(to) = (value))
#else
#define LOAD(from) (*(from))
#define STORE(to, value) (*(to) = (value))
#endif
#ifdef NO_BARRIER
#define BARRIER()
#else
#define BARRIER() __syncthreads()
#endif

// Launch: block 32 x ROWS, grid ceil(nx / 32) x ceil(ny / HEIGHT) x any number, which shares out the planes. The fields
// lie in memory as in the step by points, and are read by plain loads for the same reason.
extern "C" __global__ void wave_by_planes(const float* cur, const float* prev,
                                          const float* vsq, float* next,
                                          int nx, int ny, int nz)
{
    [[maybe_unused]] __shared__ float tile[HEIGHT + 2 * RADIUS][WIDTH + 2 * RADIUS];

    const int tx = threadIdx.x;
    const int ty = threadIdx.y;
    const int first_x = blockIdx.x * WIDTH;
    const int first_y = blockIdx.y * HEIGHT;
    const size_t row = 32 + (nx + RADIUS + 31) / 32 * 32;
    const size_t plane = row * (ny + 2 * RADIUS);

    // Where the tile hangs over the grid's end its threads stay, for the halo and the barriers. What they read is
    // moved back to the last value there is; no point that is written depends on it.
    const auto place = [&](int x, int y) {
        return min(y, ny + RADIUS - 1) * (long)row + min(x, nx + RADIUS - 1);
    };
    const int share = (nz + gridDim.z - 1) / gridDim.z;
    const int begin = blockIdx.z * share;
    const int end = min(begin + share, nz);
    if (begin >= end)
        return;
    const float* c = cur + (begin + RADIUS) * plane + RADIUS * row + 32;  // the point (0, 0) of plane `begin`
    const size_t first = (size_t)(first_y + ty) * nx + first_x + tx;  // the thread's first point in a plane of next
    long column[POINTS];
    bool inside[POINTS];
#pragma unroll
    for (int p = 0; p < POINTS; ++p) {
        column[p] = place(first_x + tx, first_y + ty + p * ROWS);
        inside[p] = first_x + tx < nx && first_y + ty + p * ROWS < ny;
    }

    float star[POINTS][2 * RADIUS + 1];  // the thread's values from plane z - RADIUS to z + RADIUS
#pragma unroll
    for (int p = 0; p < POINTS; ++p) {
#pragma unroll
        for (int d = 0; d < 2 * RADIUS; ++d)
            star[p][d + 1] = LOAD(&c[column[p] + (d - RADIUS) * (long)plane]);
    }

    for (int z = begin; z < end; ++z, c += plane) {
        // Everything that this plane needs for itself is asked for at once, before the first of it is waited for.
        float old[POINTS];
        float speed[POINTS];
#pragma unroll
        for (int p = 0; p < POINTS; ++p) {
#pragma unroll
            for (int d = 0; d < 2 * RADIUS; ++d)
                star[p][d] = star[p][d + 1];
            star[p][2 * RADIUS] = LOAD(&c[column[p] + RADIUS * plane]);
            const size_t i = first + ((size_t)z * ny + p * ROWS) * nx;
            old[p] = inside[p] ? LOAD(&prev[i]) : 0.0f;
            speed[p] = inside[p] ? LOAD(&vsq[i]) : 0.0f;
        }

#if defined(MEMORY_ONLY) || defined(STORE_ONLY)
        // The same loads and stores in the same order; what is read is added up, so that it counts.
        float halo = 0.0f;
        if (ty < RADIUS)
            halo += LOAD(&c[place(first_x + tx, first_y + ty - RADIUS)]) +
                    LOAD(&c[place(first_x + tx, first_y + HEIGHT + ty)]);
#pragma unroll
        for (int p = 0; p < POINTS; ++p) {
            const int y = first_y + ty + p * ROWS;
            if (tx < RADIUS)
                halo += LOAD(&c[place(first_x + tx - RADIUS, y)]) + LOAD(&c[place(first_x + WIDTH + tx, y)]);
            const float value = star[p][0] + star[p][2 * RADIUS] + old[p] + speed[p] + halo;
            if (inside[p])
                next[first + ((size_t)z * ny + p * ROWS) * nx] = value;
            else if (value == -1.5e-38f)  // never, but these threads' loads might matter
                next[0] = value;
        }
#else
        BARRIER();  // the plane before has been read out of tile[]
#pragma unroll
        for (int p = 0; p < POINTS; ++p) {
            const int r = RADIUS + ty + p * ROWS;
            const int y = first_y + ty + p * ROWS;
            tile[r][RADIUS + tx] = star[p][RADIUS];
            if (tx < RADIUS) {
                tile[r][tx] = LOAD(&c[place(first_x + tx - RADIUS, y)]);
                tile[r][RADIUS + WIDTH + tx] = LOAD(&c[place(first_x + WIDTH + tx, y)]);
            }
        }
        if (ty < RADIUS) {
            tile[ty][RADIUS + tx] = LOAD(&c[place(first_x + tx, first_y + ty - RADIUS)]);
            tile[RADIUS + HEIGHT + ty][RADIUS + tx] = LOAD(&c[place(first_x + tx, first_y + HEIGHT + ty)]);
        }
        BARRIER();

#pragma unroll
        for (int p = 0; p < POINTS; ++p) {
            const int r = RADIUS + ty + p * ROWS;
            float laplacian = 3 * weight(0) * star[p][RADIUS];
#pragma unroll
            for (int d = 1; d <= RADIUS; ++d)
                laplacian += weight(d) * ((tile[r][RADIUS + tx - d] + tile[r][RADIUS + tx + d]) +
                                          (tile[r - d][RADIUS + tx] + tile[r + d][RADIUS + tx]) +
                                          (star[p][RADIUS - d] + star[p][RADIUS + d]));
            if (inside[p])
                STORE(&next[first + ((size_t)z * ny + p * ROWS) * nx],
                      2 * star[p][RADIUS] - old[p] + speed[p] * laplacian);
        }
#endif
    }
}
