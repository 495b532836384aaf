// Random walks with a journal of every step. A fence for the whole device orders the entries.

// Launch: grid walkers / 288, block 288. journal: a row for each step.
extern "C" __global__ void __launch_bounds__(288)
wander(const unsigned* __restrict__ seeds, int* __restrict__ journal, int walkers, int steps)
{
    const int walker = blockIdx.x * 288 + threadIdx.x;
    unsigned random = seeds[walker] | 1;
    int place = 0;
#pragma unroll 1
    for (int step = 0; step < steps; ++step) {
        random ^= random << 13;
        random ^= random >> 17;
        random ^= random << 5;
        place += (int)(random & 15) - 7;
        journal[(size_t)step * walkers + walker] = place;
        __threadfence();  // an entry never overtakes the one before it
    }
}
