// Forward kinematics of a jointed arm, for many settings of its encoders: where the hand is, and the gravity's energy in the links.
// The links are in Denavit's and Hartenberg's convention.

#ifdef AS_ON_CONTROLLER
// A number whose sums and products are each rounded, as on the arm's controller.
struct Number {
    float value;
    __device__ __forceinline__ Number() {}
    __device__ __forceinline__ Number(float v) : value(v) {}
    explicit __device__ __forceinline__ operator float() const { return value; }
};
static __device__ __forceinline__ Number operator*(Number a, Number b) { return __fmul_rn(a.value, b.value); }
static __device__ __forceinline__ Number operator+(Number a, Number b) { return __fadd_rn(a.value, b.value); }
static __device__ __forceinline__ Number operator-(Number a, Number b) { return __fsub_rn(a.value, b.value); }
#else
using Number = float;
#endif

struct Link {
    float twist_cosine, twist_sine, length, offset;
    float centre[3], mass;
};

constexpr int JOINTS = 12;

static __constant__ Link arm[JOINTS] = {
    {0.0f, 1.0f, 0.05f, 0.34f, {0.01f, -0.02f, 0.12f}, 5.9f},      {0.0f, -1.0f, 0.02f, 0.01f, {0.0f, 0.06f, 0.04f}, 4.1f},
    {0.6f, 0.8f, 0.11f, 0.29f, {0.03f, 0.02f, 0.13f}, 3.7f},       {0.8f, -0.6f, 0.04f, 0.02f, {0.0f, 0.07f, 0.03f}, 2.9f},
    {0.28f, 0.96f, 0.07f, 0.25f, {0.02f, -0.01f, 0.08f}, 1.9f},    {0.96f, -0.28f, 0.03f, 0.03f, {0.01f, 0.05f, 0.02f}, 1.6f},
    {0.352f, 0.936f, 0.09f, 0.18f, {0.01f, 0.01f, 0.09f}, 1.2f},   {0.0f, 1.0f, 0.01f, 0.02f, {-0.01f, 0.04f, 0.01f}, 0.9f},
    {0.936f, -0.352f, 0.08f, 0.14f, {0.02f, 0.0f, 0.06f}, 0.7f},   {0.6f, -0.8f, 0.02f, 0.01f, {0.0f, 0.03f, 0.01f}, 0.5f},
    {0.96f, 0.28f, 0.06f, 0.09f, {0.01f, 0.0f, 0.03f}, 0.3f},      {0.8f, 0.6f, 0.01f, 0.07f, {0.0f, 0.0f, 0.02f}, 0.2f},
};

// Launch: a thread a setting, block 192. Encoders are by joint, then by setting: 65536 to a turn.
extern "C" __global__ void __launch_bounds__(192)
poses(const unsigned short* __restrict__ encoders, int settings, float4* __restrict__ hands)
{
    const int s = blockIdx.x * 192 + threadIdx.x;
    if (s >= settings)
        return;
    Number u[3] = {1.0f, 0.0f, 0.0f}, v[3] = {0.0f, 1.0f, 0.0f}, w[3] = {0.0f, 0.0f, 1.0f}, at[3] = {4.0f, 4.5f, 3.5f};
    Number energy = 0.0f;
#pragma unroll
    for (int j = 0; j < JOINTS; ++j) {
        const float angle = encoders[(size_t)j * settings + s] * 9.5873799e-5f;
        const Number c = __cosf(angle), n = __sinf(angle);
        const Link& link = arm[j];
        const Number tc = link.twist_cosine, ts = link.twist_sine, length = link.length, offset = link.offset;
#pragma unroll
        for (int k = 0; k < 3; ++k) {
            const Number along = u[k] * c + v[k] * n;
            const Number across = v[k] * c - u[k] * n;
            at[k] = at[k] + along * length + w[k] * offset;
            u[k] = along;
            v[k] = across * tc + w[k] * ts;
            w[k] = w[k] * tc - across * ts;
        }
        const Number height = at[2] + u[2] * Number(link.centre[0]) + v[2] * Number(link.centre[1]) + w[2] * Number(link.centre[2]);
        energy = energy + height * Number(link.mass);
    }
    hands[s] = make_float4((float)at[0], (float)at[1], (float)at[2], 9.81f * (float)energy);
}
