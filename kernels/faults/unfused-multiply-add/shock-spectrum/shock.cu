// Shock response spectra: the peak response of 256 damped oscillators to each recorded base acceleration, by the ramp-invariant
// recursive filter of two poles.

constexpr int FREQUENCIES = 256;
constexpr int CHUNK = 1024;  // samples in shared memory at a time

struct Filter { float b0, b1, b2, a1, a2; };

static __device__ Filter design(float hertz, float q, float dt)
{
    const float omega = 6.2831853f * hertz, z = 0.5f / q;
    const float damped = omega * sqrtf(1.0f - z * z) * dt, e = __expf(-z * omega * dt);
    const float k = e * __cosf(damped), s = e * __sinf(damped) / damped;
    return Filter{1.0f - s, 2.0f * (s - k), e * e - s, 2.0f * k, -e * e};
}

// Launch: a block a record, a thread an oscillator. `samples` is a multiple of CHUNK.
extern "C" __global__ void __launch_bounds__(FREQUENCIES)
peaks(const float* __restrict__ records, float* __restrict__ spectrum, int samples, float dt, float q)
{
    __shared__ float4 chunk[CHUNK / 4];
    const float hertz = 200.0f * exp2f((float)threadIdx.x * (4.0f / FREQUENCIES));
    const Filter f = design(hertz, q, dt);
    const float4* record = reinterpret_cast<const float4*>(records + (size_t)blockIdx.x * samples);
    float x1 = 0.0f, x2 = 0.0f, y1 = 0.0f, y2 = 0.0f, peak = 0.0f;
    for (int first = 0; first < samples / 4; first += CHUNK / 4) {
        __syncthreads();
        chunk[threadIdx.x] = record[first + threadIdx.x];
        __syncthreads();
#pragma unroll 4
        for (int j = 0; j < CHUNK / 4; ++j) {
            const float4 four = chunk[j];
            const float x[4] = {four.x, four.y, four.z, four.w};
#pragma unroll
            for (int s = 0; s < 4; ++s) {
                const float forced = f.b0 * x[s] + f.b1 * x1 + f.b2 * x2;
                const float y = forced + f.a2 * y2 + f.a1 * y1;
                peak = fmaxf(peak, fabsf(y));
                x2 = x1;
                x1 = x[s];
                y2 = y1;
                y1 = y;
            }
        }
    }
    spectrum[(size_t)blockIdx.x * FREQUENCIES + threadIdx.x] = peak;
}
