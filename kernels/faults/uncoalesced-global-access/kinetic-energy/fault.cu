// Kinetic energy of each molecule, with masses read from records of eight floats: 32 bytes lie between the masses of
// neighbouring lanes, so that a load touches a sector for each lane and uses 4 bytes of it.

struct Molecule {
    float radius, charge, polarizability, mass, spin, kind, x, y;
};

// Launch: grid ceil(n / 192), block 192. `velocities` holds all x, then all y, then all z.
extern "C" __global__ void energy_from_records(const float* __restrict__ velocities,
                                               const Molecule* __restrict__ molecules,
                                               float* __restrict__ energies, unsigned n)
{
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    const float vx = velocities[i], vy = velocities[n + i], vz = velocities[2 * n + i];
    const float mass = molecules[i].mass;
    energies[i] = 0.5f * mass * (vx * vx + vy * vy + vz * vz);
}
