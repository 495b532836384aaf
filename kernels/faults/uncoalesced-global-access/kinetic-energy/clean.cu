// Kinetic energy of each molecule, with masses from an array of their own: neighbouring lanes read neighbouring floats.

// Launch: grid ceil(n / 192), block 192. `velocities` holds all x, then all y, then all z.
extern "C" __global__ void energy_from_array(const float* __restrict__ velocities, const float* __restrict__ masses,
                                             float* __restrict__ energies, unsigned n)
{
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    const float vx = velocities[i], vy = velocities[n + i], vz = velocities[2 * n + i];
    const float mass = masses[i];
    energies[i] = 0.5f * mass * (vx * vx + vy * vy + vz * vz);
}
