// Boardings of ferries per quay and day: a thread per quay holds each boarding of its day against its own number.

// Launch: grid (quays / 256, days), block 256.
extern "C" __global__ void count_boardings(const unsigned* __restrict__ quays, unsigned* __restrict__ boardings, int per_day, int all_quays)
{
    const unsigned quay = blockIdx.x * blockDim.x + threadIdx.x;
    const unsigned* of_day = quays + (size_t)blockIdx.y * per_day;
    unsigned here = 0;
    for (int i = 0; i < per_day; i++)
        if (of_day[i] == quay) here++;
    boardings[(size_t)blockIdx.y * all_quays + quay] = here;
}
