// The energy of seismic traces of 256 samples behind a cascade of band-pass sections. A block brings tiles of 8192 samples
// into shared memory and filters along the traces. TRACES says how many traces a tile has; the rest is samples.

constexpr int SAMPLES = 256;
constexpr int SECTIONS = 9;
constexpr int COLUMNS = 8192 / TRACES;
constexpr int PITCH = COLUMNS + 1;

struct BandPass {
    float gain, a1, a2, s1, s2;

    __device__ __forceinline__ float next(float x)
    {
        const float y = fmaf(gain, x, s1);
        s1 = fmaf(-a1, y, s2);
        s2 = fmaf(-gain, x, -a2 * y);
        return y;
    }
};

// Launch: grid traces / TRACES, block 256.
extern "C" __global__ void __launch_bounds__(256, 4)
cascade(const float* __restrict__ in, const float* __restrict__ design, float* __restrict__ energy)
{
    __shared__ float tile[TRACES * PITCH];
    // 256 threads cover one or more traces of the tile at a time.
    const int trace = threadIdx.x / COLUMNS, column = threadIdx.x % COLUMNS;
    const float* const from = in + ((size_t)blockIdx.x * TRACES + trace) * SAMPLES + column;
    float* const to = tile + trace * PITCH + column;
    BandPass section[SECTIONS];
#pragma unroll
    for (int k = 0; k < SECTIONS; ++k)
        section[k] = {design[3 * k], design[3 * k + 1], design[3 * k + 2], 0.0f, 0.0f};

    float sum = 0.0f;
#pragma unroll 1
    for (int start = 0; start < SAMPLES; start += COLUMNS) {
#pragma unroll 1
        for (int k = 0; k < 32; k += 8) {
            float sample[8];
#pragma unroll
            for (int j = 0; j < 8; ++j)
                sample[j] = from[start + (k + j) * (256 / COLUMNS) * SAMPLES];
#pragma unroll
            for (int j = 0; j < 8; ++j)
                to[(k + j) * (256 / COLUMNS) * PITCH] = sample[j];
        }
        __syncthreads();
        if (threadIdx.x < TRACES) {
            const float* const own = tile + threadIdx.x * PITCH;
#pragma unroll 2
            for (int c = 0; c < COLUMNS; ++c) {
                float x = own[c];
#pragma unroll
                for (int k = 0; k < SECTIONS; ++k)
                    x = section[k].next(x);
                sum = fmaf(x, x, sum);
            }
        }
        __syncthreads();
    }
    if (threadIdx.x < TRACES)
        energy[blockIdx.x * TRACES + threadIdx.x] = sum;
}
