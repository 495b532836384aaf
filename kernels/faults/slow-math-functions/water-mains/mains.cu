// Head lost in the pipes of a water network under the demands of a day: Darcy and Weisbach's formula with Swamee and Jain's
// friction factor. A pipe is smooth or rough, wide or narrow; its flow in the hour is the usual one by the hour's demand.

#ifdef LIBRARY
__device__ __forceinline__ float power(float x, float y) { return powf(x, y); }
__device__ __forceinline__ float decimal_log(float x) { return log10f(x); }
__device__ __forceinline__ float quotient(float x, float y) { return x / y; }
#else
__device__ __forceinline__ float power(float x, float y) { return __powf(x, y); }
__device__ __forceinline__ float decimal_log(float x) { return __log10f(x); }
__device__ __forceinline__ float quotient(float x, float y) { return __fdividef(x, y); }
#endif

struct Pipe {
    float diameter;   // m
    float roughness;  // m (given in mm)
    float length;     // m
    float flow;       // m3/s, the day's mean
};

__device__ float friction(const Pipe& pipe, float reynolds)
{
    const float rough = quotient(pipe.roughness, 3.7f * pipe.diameter);
    const float smooth = quotient(5.74f, power(reynolds, 0.9f));
    const float log = decimal_log(rough + smooth);
    return quotient(0.25f, log * log);
}

// Launch: grid over the pipes, block 192. The loss of a pipe over `hours` hours, in m.
extern "C" __global__ void __launch_bounds__(192)
head_loss(const float4* __restrict__ pipes, const float* __restrict__ demand, float* __restrict__ loss, int count, int hours)
{
    const int i = blockIdx.x * 192 + threadIdx.x;
    if (i >= count)
        return;
    const float4 p = pipes[i];
    const Pipe pipe = {p.x, 1e-3f * p.y, p.z, p.w};
    const float area = 0.78539816f * pipe.diameter * pipe.diameter;
    float sum = 0.0f;
#pragma unroll 1
    for (int h = 0; h < hours; ++h) {
        const float flow = pipe.flow * demand[h];
        const float velocity = quotient(flow, area);
        const float reynolds = quotient(velocity * pipe.diameter, 1.31e-6f);
        const float head = quotient(velocity * velocity * pipe.length, 19.62f * pipe.diameter);
        sum = fmaf(friction(pipe, reynolds), head, sum);
    }
    loss[i] = sum;
}
