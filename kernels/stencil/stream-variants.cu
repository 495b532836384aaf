// Wave step as a stream: planes flow through shared memory, several of them on their way at any time.
//
// The march along z is as before, but no thread waits for the plane that it just asked for. Asynchronous copies fill
// a ring of stages in shared memory, each with a plane of cur (with its halo) and the prev and vsq that finish the
// plane RADIUS behind it; while one is worked on, the others are in flight and occupy no registers. A thread takes
// four neighbouring points, so every access is 16 bytes wide, and one barrier a plane is enough.
//
// The star is built up as planes arrive. A plane gives its output the part within the plane and the part behind it,
// from the RADIUS values of its column that the thread remembers; the part ahead is added as it comes, to the outputs
// that wait for it. So a plane is needed whole just once, and nothing is read twice but the halos.
//
// Compiled with BITS=16 or BITS=8 the inputs are compressed: halves, or codes of a byte that divide the range from
// `low` to `high` into 255 steps. The arithmetic stays in single precision.

#ifndef ORDER
#define ORDER 8  // of the error in the grid's spacing: 2, 4, 6, 8, 10 or 12
#endif
#ifndef BITS
#define BITS 32  // of an input value
#endif
#ifndef WIDTH
#define WIDTH 128  // points of a tile in x
#endif
#ifndef ROWS
#define ROWS 16  // and in y
#endif
#ifndef STAGES
#define STAGES 3  // planes in shared memory: one in use, the others on their way
#endif
#ifndef BLOCKS
#define BLOCKS 1  // resident on a multiprocessor
#endif
constexpr int RADIUS = ORDER / 2;
constexpr int LANES = WIDTH / 4;
constexpr int SIDE = (RADIUS + 3) / 4;  // quads of halo to the left and to the right

// Four neighbouring values as they lie in memory.
#if BITS == 32
using Quad = float4;
using Value = float;
#elif BITS == 16
using Quad = uint2;
using Value = unsigned short;
#else
using Quad = unsigned;
using Value = unsigned char;
#endif

// stream.cu with parts left out, for `adoprof limiter`; lines added there would move those that recordings name.
// Without accesses to global memory a copy writes the bits of its addresses, and a store waits for a value that never
// comes, which the compiler can't know.
#if BITS != 32
#error "the variants are of single-precision inputs"
#endif
#ifdef NO_BARRIER
#define BARRIER()
#else
#define BARRIER() __syncthreads()
#endif
#ifdef ARITHMETIC_ONLY
#define LOAD(from) __int_as_float((int)(size_t)(from))
#endif

struct Stage {
    Quad cur[ROWS + 2 * RADIUS][LANES + 2 * SIDE];
    Quad prev[ROWS][LANES];
    Quad vsq[ROWS][LANES];
};

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

// Four values as numbers. Codes stay codes here: the range is applied once, to the result.
__device__ __forceinline__ void unpack(float (&value)[4], Quad quad)
{
#if BITS == 32
    value[0] = quad.x;
    value[1] = quad.y;
    value[2] = quad.z;
    value[3] = quad.w;
#elif BITS == 16
    asm("{.reg .b16 l, h; mov.b32 {l, h}, %2; cvt.f32.f16 %0, l; cvt.f32.f16 %1, h;}"
        : "=f"(value[0]), "=f"(value[1]) : "r"(quad.x));
    asm("{.reg .b16 l, h; mov.b32 {l, h}, %2; cvt.f32.f16 %0, l; cvt.f32.f16 %1, h;}"
        : "=f"(value[2]), "=f"(value[3]) : "r"(quad.y));
#else
    // The byte becomes the last of the fraction of 2^23: a permutation and a subtraction, where the conversion
    // instruction would run at a quarter of their rate.
#pragma unroll
    for (int e = 0; e < 4; ++e)
        value[e] = __uint_as_float(__byte_perm(quad, 0x4b000000u, 0x7440 + e)) - 8388608.0f;
#endif
}

// Copies to shared memory without waiting. Devices before compute capability 8.0 wait.
template <typename T>
__device__ __forceinline__ void copy_ahead(T* to, const T* from)
{
#if defined(ARITHMETIC_ONLY)
    if constexpr (sizeof(T) == 16) {
        const float* const first = (const float*)from;
        *to = {LOAD(first), LOAD(first + 1), LOAD(first + 2), LOAD(first + 3)};
    } else {
        *to = LOAD(from);
    }
    return;
#elif __CUDA_ARCH__ >= 800
    if constexpr (sizeof(T) == 16) {
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16;"
                     : : "r"((unsigned)__cvta_generic_to_shared(to)), "l"(__cvta_generic_to_global(from)) : "memory");
        return;
    } else if constexpr (sizeof(T) >= 4) {
        asm volatile("cp.async.ca.shared.global [%0], [%1], %2;"
                     : : "r"((unsigned)__cvta_generic_to_shared(to)), "l"(__cvta_generic_to_global(from)),
                         "n"(sizeof(T)) : "memory");
        return;
    }
#endif
    *to = *from;
}

// Ends a group of copies.
__device__ __forceinline__ void close_group()
{
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.commit_group;" : : : "memory");
#endif
}

// Waits for all groups of this thread's copies but the newest `open`.
template <int open>
__device__ __forceinline__ void wait_for_groups()
{
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.wait_group %0;" : : "n"(open) : "memory");
#endif
}

// Launch: block WIDTH / 4 x ROWS, grid ceil(nx / WIDTH) x ceil(ny / ROWS) x any number, which shares out the planes;
// dynamic shared memory STAGES stages. The fields lie in memory as in the step by points.
extern "C" __global__ void __launch_bounds__(LANES * ROWS, BLOCKS)
wave_by_stream(const Value* __restrict__ cur, const Value* __restrict__ prev, const Value* __restrict__ vsq,
               float* __restrict__ next, int nx, int ny, int nz
#if BITS == 8
               , float low, float high, float vsq_low, float vsq_high
#endif
)
{
    extern __shared__ __align__(16) unsigned char memory[];
    Stage* const ring = (Stage*)memory;

    const int tx = threadIdx.x;
    const int ty = threadIdx.y;
    const int first_x = blockIdx.x * WIDTH;
    const int first_y = blockIdx.y * ROWS;
    const int x = first_x + 4 * tx;
    const int y = first_y + ty;
    const size_t row = 32 + (nx + RADIUS + 31) / 32 * 32;
    [[maybe_unused]] const size_t plane = row * (ny + 2 * RADIUS);
    const bool aligned = nx % 4 == 0;
    const bool inside = x < nx && y < ny;

    const int share = (nz + gridDim.z - 1) / gridDim.z;
    const int begin = blockIdx.z * share;
    const int end = min(begin + share, nz);
    if (begin >= end)
        return;

    // Asks for plane z of cur, and for what finishes the output RADIUS planes behind it.
    const auto fetch = [&]([[maybe_unused]] int z, [[maybe_unused]] Stage& stage) {
#ifndef STORE_ONLY
        const Value* const tile = cur + (z + RADIUS) * plane + 32 + first_x - 4 * SIDE;
#pragma unroll
        for (int pass = 0; pass < (2 * RADIUS + 2 * ROWS - 1) / ROWS; ++pass) {
            const int r = ty + pass * ROWS;
            // Beyond the field's last row and last column lies nothing that an output needs.
            const Value* const line = tile + min(first_y + r, ny + 2 * RADIUS - 1) * row;
#pragma unroll
            for (int part = 0; part < (LANES + 2 * SIDE + LANES - 1) / LANES; ++part) {
                const int q = tx + part * LANES;
#ifdef NO_HALO
                if (r < RADIUS || r >= ROWS + RADIUS || q < SIDE || q >= LANES + SIDE)
                    continue;
#endif
                if (r < ROWS + 2 * RADIUS && q < LANES + 2 * SIDE && first_x + 4 * (q - SIDE) < nx + RADIUS)
                    copy_ahead(&stage.cur[r][q], (const Quad*)line + q);
            }
        }
        if (z - RADIUS >= begin && inside) {
            const size_t i = ((size_t)(z - RADIUS) * ny + y) * nx + x;
            if (aligned) {
                copy_ahead(&stage.prev[ty][tx], (const Quad*)(prev + i));
                copy_ahead(&stage.vsq[ty][tx], (const Quad*)(vsq + i));
            } else {
#pragma unroll
                for (int e = 0; e < 4; ++e)
                    if (x + e < nx) {
                        copy_ahead((Value*)&stage.prev[ty][tx] + e, prev + i + e);
                        copy_ahead((Value*)&stage.vsq[ty][tx] + e, vsq + i + e);
                    }
            }
        }
#endif
    };

    int z = begin - RADIUS;
    const int last = end + RADIUS;
    for (int s = 0; s < STAGES - 1; ++s) {
        if (z + s < last)
            fetch(z + s, ring[s]);
        close_group();
    }

    // Of the planes z - RADIUS to z - 1: the thread's values, and the Laplacians as far as they are known. Plane z has
    // the place z modulo RADIUS, which unrolling makes a constant.
    [[maybe_unused]] float behind[RADIUS][4] = {};
    [[maybe_unused]] float waiting[RADIUS][4] = {};
    int use = 0;           // the stage that holds plane z
    int fill = STAGES - 1;  // the stage that was used last
    while (z < last) {
#pragma unroll
        for (int u = 0; u < RADIUS; ++u, ++z) {  // past the last plane nothing is fetched or written
            wait_for_groups<STAGES - 2>();
#if defined(MEMORY_ONLY) || defined(STORE_ONLY)
            // A thread reads nothing but what it copied itself, but the barrier stays: it keeps the warps' accesses
            // together, and without it they took 13% longer on an H200.
            __syncthreads();
            if (z + STAGES - 1 < last)
                fetch(z + STAGES - 1, ring[fill]);
            close_group();
            if (z - RADIUS >= begin && z < last && inside) {
                const size_t i = ((size_t)(z - RADIUS) * ny + y) * nx + x;
#ifdef MEMORY_ONLY
                float value[4];
                unpack(value, ring[use].prev[ty][tx]);
#else
                const float value[4] = {};
#endif
                if (aligned) {
                    __stcs((float4*)(next + i), make_float4(value[0], value[1], value[2], value[3]));
                } else {
#pragma unroll
                    for (int e = 0; e < 4; ++e)
                        if (x + e < nx)
                            __stcs(next + i + e, value[e]);
                }
            }
#else
            BARRIER();
            if (z + STAGES - 1 < last)
                fetch(z + STAGES - 1, ring[fill]);
            close_group();
            const Stage& stage = ring[use];
            const Quad(&tile)[ROWS + 2 * RADIUS][LANES + 2 * SIDE] = stage.cur;

            float line[2 * SIDE + 1][4];  // of this row, as far as the halo goes
#pragma unroll
            for (int q = 0; q < 2 * SIDE + 1; ++q)
                unpack(line[q], tile[ty + RADIUS][tx + q]);
            const float(&own)[4] = line[SIDE];

            // The last part of the output RADIUS planes behind.
            if (z - RADIUS >= begin && z < last && inside) {
                float old[4], speed[4], result[4];
                unpack(old, stage.prev[ty][tx]);
                unpack(speed, stage.vsq[ty][tx]);
#pragma unroll
                for (int e = 0; e < 4; ++e) {
                    const float laplacian = waiting[u][e] + weight(RADIUS) * own[e];
#if BITS == 8
                    // The weights add up to zero, so `low` drops out of the Laplacian.
                    const float scale = (high - low) * (1.0f / 255);
                    const float v = vsq_low + (vsq_high - vsq_low) * (1.0f / 255) * speed[e];
                    result[e] = low + scale * (2 * behind[u][e] - old[e] + v * laplacian);
#else
                    result[e] = 2 * behind[u][e] - old[e] + speed[e] * laplacian;
#endif
                }
                const size_t i = ((size_t)(z - RADIUS) * ny + y) * nx + x;
#ifdef ARITHMETIC_ONLY
                const float all = (result[0] + result[1]) + (result[2] + result[3]);
                if (all == -1.5e-38f)
                    next[i] = all;
#else
                if (aligned) {
                    __stcs((float4*)(next + i), make_float4(result[0], result[1], result[2], result[3]));
                } else {
#pragma unroll
                    for (int e = 0; e < 4; ++e)
                        if (x + e < nx)
                            __stcs(next + i + e, result[e]);
                }
#endif
            }

            // The planes behind have waited for this one.
#pragma unroll
            for (int d = 1; d < RADIUS; ++d) {
#pragma unroll
                for (int e = 0; e < 4; ++e)
                    waiting[(u - d + RADIUS) % RADIUS][e] += weight(d) * own[e];
            }

            // This plane's own: what lies within it and behind it.
            float sum[4];
#pragma unroll
            for (int e = 0; e < 4; ++e)
                sum[e] = 3 * weight(0) * own[e];
#pragma unroll
            for (int d = 1; d <= RADIUS; ++d) {
                float up[4], down[4];
                unpack(up, tile[ty + RADIUS - d][tx + SIDE]);
                unpack(down, tile[ty + RADIUS + d][tx + SIDE]);
#pragma unroll
                for (int e = 0; e < 4; ++e) {
                    const int left = 4 * SIDE + e - d;
                    const int right = 4 * SIDE + e + d;
                    sum[e] += weight(d) * ((line[left / 4][left % 4] + line[right / 4][right % 4]) +
                                           (up[e] + down[e]) + behind[(u - d + RADIUS) % RADIUS][e]);
                }
            }
#pragma unroll
            for (int e = 0; e < 4; ++e) {
                waiting[u][e] = sum[e];
                behind[u][e] = own[e];
            }
#endif

            fill = use;
            use = use + 1 == STAGES ? 0 : use + 1;
        }
    }
}
