// Random walks by a linear congruential generator. Blocks take tiles of 128 walks from a queue until it is empty; the counter
// wraps to 0 when the last block has found it empty.

extern "C" __global__ void walks(const unsigned* __restrict__ seeds, float* __restrict__ ends, unsigned* queue,
                                 int tiles, int steps)
{
    __shared__ unsigned taken;
    while (true) {
        __syncthreads();
        if (threadIdx.x == 0)
            taken = atomicInc(queue, tiles + gridDim.x - 1);
        __syncthreads();
        if (taken >= tiles)
            return;
        const int walk = taken * 128 + threadIdx.x;
        unsigned state = seeds[walk];
        float place = 0.0f;
        for (int i = 0; i < steps; ++i) {
            state = 1664525u * state + 1013904223u;
            place += __uint2float_rn(state >> 8) * 0x1p-24f - 0.5f;
        }
        ends[walk] = place;
    }
}
