// Turns bodies by 256 equal small rotations, as products of quaternions. Whether multiplications and additions are
// fused is left to the compiler's flags.

constexpr int STEPS = 256;

// Launch: grid bodies / 128, block 128. spins[axis][body] in radians a step.
extern "C" __global__ void __launch_bounds__(128)
turn(const float* __restrict__ spins, float* __restrict__ turned, unsigned bodies)
{
    const unsigned body = blockIdx.x * 128 + threadIdx.x;
    const float rx = 0.5f * spins[body];
    const float ry = 0.5f * spins[bodies + body];
    const float rz = 0.5f * spins[2 * bodies + body];
    const float rw = 1.0f - 0.5f * (rx * rx + ry * ry + rz * rz);
    float x = 0.0f, y = 0.0f, z = 0.0f, w = 1.0f;
#pragma unroll 4
    for (int step = 0; step < STEPS; ++step) {
        const float nx = w * rx + x * rw + y * rz - z * ry;
        const float ny = w * ry - x * rz + y * rw + z * rx;
        const float nz = w * rz + x * ry - y * rx + z * rw;
        const float nw = w * rw - x * rx - y * ry - z * rz;
        x = nx;
        y = ny;
        z = nz;
        w = nw;
    }
    turned[body] = 4.0f + x + y + z + w;
}
