// A charged probe is placed at many points around a protein; each placement gets its energy with all atoms of the protein
// (softened Coulomb and a 6-12 term).

struct Energy {
    float coulomb, contact;
};

static __device__ __forceinline__ void add_atom(Energy& e, float3 at, float4 atom, float softening)
{
    const float dx = at.x - atom.x, dy = at.y - atom.y, dz = at.z - atom.z;
    const float r2 = fmaf(dx, dx, fmaf(dy, dy, fmaf(dz, dz, softening)));
    const float inverse = rsqrtf(r2);
    const float inverse2 = inverse * inverse;
    const float sixth = inverse2 * inverse2 * inverse2;
    e.coulomb = fmaf(atom.w, inverse, e.coulomb);
    e.contact = fmaf(sixth, sixth - 1.0f, e.contact);
}

// Launch: any grid of blocks of 512; the threads take the placements in turns.
extern "C" __global__ void __launch_bounds__(512, 4)
probe_energy(const float4* __restrict__ atoms, int n_atoms, const float* __restrict__ px, const float* __restrict__ py,
             const float* __restrict__ pz, int placements, float charge, float depth, float* __restrict__ energy)
{
    for (int p = blockIdx.x * blockDim.x + threadIdx.x; p < placements; p += gridDim.x * blockDim.x) {
        const float3 at = make_float3(px[p], py[p], pz[p]);
        Energy e = {0.0f, 0.0f};
#pragma unroll 4
        for (int a = 0; a < n_atoms; ++a)
            add_atom(e, at, atoms[a], 0.5f);
        energy[p] = fmaf(charge, e.coulomb, depth * e.contact);
    }
}
