// How far recorded gestures are from a model, with time warped softly: a table of costs is filled from the first samples to
// the last ones, each entry from the soft minimum of three before it. A thread compares one gesture; tables are kept in shared
// memory, an entry of all threads of the block together.

constexpr int SAMPLES = 20, THREADS = 64;
constexpr float FAR = 1e10f;

__device__ __forceinline__ float soft_minimum(float a, float b, float c)
{
    const float m = fminf(a, fminf(b, c));
    return m - __logf(__expf(m - a) + __expf(m - b) + __expf(m - c));
}

#ifdef WHOLE_TABLE
struct Table {
    float entry[SAMPLES][SAMPLES][THREADS];
    __device__ float above(int i, int j) const { return entry[i - 1][j][threadIdx.x]; }
    __device__ void set(int i, int j, float cost) { entry[i][j][threadIdx.x] = cost; }
};
#else
struct Table {
    float entry[SAMPLES][THREADS];  // of the row before, as far as the present one has not come by
    __device__ float above(int, int j) const { return entry[j][threadIdx.x]; }
    __device__ void set(int, int j, float cost) { entry[j][threadIdx.x] = cost; }
};
#endif

// Launch: a thread a gesture, blocks of 64, shared memory for a Table. Samples of all gestures lie together, time by time.
extern "C" __global__ void __launch_bounds__(THREADS)
warped_distance(const float* __restrict__ gestures, const float* __restrict__ model, float* __restrict__ distance, int count)
{
    extern __shared__ __align__(16) unsigned char memory[];
    Table& table = *reinterpret_cast<Table*>(memory);
    const int g = blockIdx.x * THREADS + threadIdx.x;
    if (g >= count)
        return;
    float left = FAR;
#pragma unroll 1
    for (int i = 0; i < SAMPLES; ++i) {
        const float sample = gestures[(size_t)i * count + g];
        float corner = i == 0 ? 0.0f : FAR;
        left = FAR;
#pragma unroll 4
        for (int j = 0; j < SAMPLES; ++j) {
            const float up = i == 0 ? FAR : table.above(i, j);
            const float apart = sample - model[j];
            left = fmaf(apart, apart, soft_minimum(left, up, corner));
            table.set(i, j, left);
            corner = up;
        }
    }
    distance[g] = left;
}
