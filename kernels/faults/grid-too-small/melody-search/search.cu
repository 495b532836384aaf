// Aligns a hummed melody with songs: costs[song][t][s] is the least sum of pitch differences with which the song's notes up to t
// follow the melody up to its note s. All costs are kept, since the way back through them is wanted afterwards.

constexpr int MELODY = 64;  // notes

__device__ __forceinline__ unsigned apart(unsigned a, unsigned b)
{
    return a < b ? b - a : a - b;
}

#ifndef BLOCK_PER_SONG
// Launch: songs / 128, block 128. A thread has a song.
extern "C" __global__ void __launch_bounds__(128)
follow(const unsigned* __restrict__ songs, const unsigned* __restrict__ melody, unsigned* costs, int length)
{
    const int song = blockIdx.x * 128 + threadIdx.x;
    const unsigned* notes = songs + (size_t)song * length;
    const size_t first = (size_t)song * length * MELODY;
    for (int s = 0; s < MELODY; ++s)
        costs[first + s] = apart(notes[0], melody[s]);
    for (int t = 1; t < length; ++t) {
        const size_t row = first + (size_t)t * MELODY;
        for (int s = 0; s < MELODY; ++s) {
            unsigned best = costs[row - MELODY + s];
            if (s > 0)
                best = min(best, costs[row - MELODY + s - 1]);
            costs[row + s] = best + apart(notes[t], melody[s]);
        }
    }
}
#else
// Launch: one block of 64 threads per song. A thread has a note of the melody.
extern "C" __global__ void __launch_bounds__(64)
follow(const unsigned* __restrict__ songs, const unsigned* __restrict__ melody, unsigned* costs, int length)
{
    const int s = threadIdx.x;
    const unsigned* notes = songs + (size_t)blockIdx.x * length;
    const size_t first = (size_t)blockIdx.x * length * MELODY;
    const unsigned own = melody[s];
    costs[first + s] = apart(notes[0], own);
    for (int t = 1; t < length; ++t) {
        __syncthreads();
        const size_t row = first + (size_t)t * MELODY;
        unsigned best = costs[row - MELODY + s];
        if (s > 0)
            best = min(best, costs[row - MELODY + s - 1]);
        costs[row + s] = best + apart(notes[t], own);
    }
}
#endif
