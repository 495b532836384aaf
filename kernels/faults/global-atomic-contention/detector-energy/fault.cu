// Adds up the energies of events by detector, 64 words in global memory that all threads of the device add to, event by
// event.

constexpr int DETECTORS = 64;
constexpr int EVENTS = 4096;  // of a block

__device__ unsigned add_samples(uint4 samples, unsigned sum)
{
    sum = __dp4a(samples.x, 0x01010101u, sum);
    sum = __dp4a(samples.y, 0x01010101u, sum);
    sum = __dp4a(samples.z, 0x01010101u, sum);
    return __dp4a(samples.w, 0x01010101u, sum);
}

// Launch: grid n / 4096, block 256. Part p of the pulse of event i lies at pulses[p * n + i]. sums[64] counts the
// blocks that have finished; all of `sums` is zero before and after.
extern "C" __global__ void __launch_bounds__(256)
energy_by_event(const uint4* __restrict__ pulses, const unsigned char* __restrict__ detectors, unsigned* sums,
                unsigned* __restrict__ energies, unsigned n)
{
    for (int k = 0; k < EVENTS; k += 256) {
        const unsigned i = blockIdx.x * EVENTS + k + threadIdx.x;
        unsigned energy = 0;
#pragma unroll
        for (int part = 0; part < 8; ++part)
            energy = add_samples(pulses[(size_t)part * n + i], energy);
        atomicAdd(sums + detectors[i], energy);
    }

    // The last block to come here has the sums of all.
    __shared__ bool last;
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0)
        last = atomicAdd(sums + DETECTORS, 1u) == gridDim.x - 1;
    __syncthreads();
    if (last) {
        __threadfence();
        if (threadIdx.x < DETECTORS)
            energies[threadIdx.x] = atomicExch(sums + threadIdx.x, 0u);
        if (threadIdx.x == DETECTORS)
            sums[DETECTORS] = 0;
    }
}
