// A shear layer by a lattice of nine velocities (D2Q9, relaxation towards equilibrium with a stabilising bound), on a torus.
// The nine populations of a cell are kept in a buffer of their own between steps.

#ifdef BY_CELL
#define POPULATION(f, q, cell, cells) (f)[(size_t)(cell) * 9 + (q)]
#else
#define POPULATION(f, q, cell, cells) (f)[(size_t)(q) * (cells) + (cell)]
#endif

static __device__ constexpr int EX[9] = {0, 1, 0, -1, 0, 1, -1, -1, 1};
static __device__ constexpr int EY[9] = {0, 0, 1, 0, -1, 1, 1, -1, -1};

template <int Q>
static __device__ __forceinline__ float equilibrium(float density, float u, float v)
{
    constexpr float weight = Q == 0 ? 4.0f / 9 : Q < 5 ? 1.0f / 9 : 1.0f / 36;
    const float along = EX[Q] * u + EY[Q] * v;
    return weight * density * (1.0f + 3.0f * along + 4.5f * along * along - 1.5f * (u * u + v * v));
}

template <int Q>
static __device__ __forceinline__ void start_all(float* f, int cell, int cells, float density, float u, float v)
{
    POPULATION(f, Q, cell, cells) = equilibrium<Q>(density, u, v);
    if constexpr (Q < 8)
        start_all<Q + 1>(f, cell, cells, density, u, v);
}

template <int Q>
static __device__ __forceinline__ void relax_all(float* f, const float (&now)[9], int cell, int cells, float density, float u,
                                                 float v, float omega)
{
    const float target = equilibrium<Q>(density, u, v);
    POPULATION(f, Q, cell, cells) = fmaxf(fmaf(omega, target - now[Q], now[Q]), 0.0f);
    if constexpr (Q < 8)
        relax_all<Q + 1>(f, now, cell, cells, density, u, v, omega);
}

// Launch: a thread a cell, block 64 x 3.
extern "C" __global__ void __launch_bounds__(192)
begin(const float* __restrict__ velocity, float* __restrict__ f, int width, int height)
{
    const int x = blockIdx.x * 64 + threadIdx.x, y = blockIdx.y * 3 + threadIdx.y;
    if (x >= width || y >= height)
        return;
    const int cell = y * width + x;
    const float u = velocity[cell];
    start_all<0>(f, cell, width * height, 1.0f, y * 2 < height ? 0.05f + u : u - 0.05f, 0.5f * u);
}

// Launch: as begin. Populations stream in from the neighbours of `from` and leave relaxed in `to`.
extern "C" __global__ void __launch_bounds__(192)
step(const float* __restrict__ from, float* __restrict__ to, int width, int height, float omega)
{
    const int x = blockIdx.x * 64 + threadIdx.x, y = blockIdx.y * 3 + threadIdx.y;
    if (x >= width || y >= height)
        return;
    const int cells = width * height;
    const int left = x == 0 ? width - 1 : x - 1, right = x == width - 1 ? 0 : x + 1;
    const int below = (y == 0 ? height - 1 : y - 1) * width, above = (y == height - 1 ? 0 : y + 1) * width;
    float now[9];
    float density = 0.0f, u = 0.0f, v = 0.0f;
#pragma unroll
    for (int q = 0; q < 9; ++q) {
        const int column = EX[q] > 0 ? left : EX[q] < 0 ? right : x;
        const int row = EY[q] > 0 ? below : EY[q] < 0 ? above : y * width;
        now[q] = POPULATION(from, q, row + column, cells);
    }
#pragma unroll
    for (int q = 0; q < 9; ++q) {
        density += now[q];
        u += EX[q] * now[q];
        v += EY[q] * now[q];
    }
    const float inverse = __fdividef(1.0f, density);
    relax_all<0>(to, now, y * width + x, cells, density, u * inverse, v * inverse, omega);
}

// Launch: as begin.
extern "C" __global__ void __launch_bounds__(192)
finish(const float* __restrict__ f, float* __restrict__ density, int width, int height)
{
    const int x = blockIdx.x * 64 + threadIdx.x, y = blockIdx.y * 3 + threadIdx.y;
    if (x >= width || y >= height)
        return;
    const int cell = y * width + x;
    float sum = 0.0f;
#pragma unroll
    for (int q = 0; q < 9; ++q)
        sum += POPULATION(f, q, cell, width * height);
    density[cell] = sum;
}
