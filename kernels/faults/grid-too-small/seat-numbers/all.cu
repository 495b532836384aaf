// Which seat each guest gets, by a thread for each guest: those before it are counted first.

// Where a guest of a block comes among its guests who have a ticket; `all` is how many these are.
static __device__ int place_in_block(bool has_ticket, int* of_warps, int* all)
{
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const unsigned votes = __ballot_sync(~0u, has_ticket);
    if (lane == 0) of_warps[warp] = __popc(votes);
    __syncthreads();
    int before = __popc(votes & ((1u << lane) - 1)), sum = 0;
    for (int other = 0; other < 8; ++other) {
        if (other < warp) before += of_warps[other];
        sum += of_warps[other];
    }
    *all = sum;
    return before;
}

// Launch: grid (guests / 256), block 256.
extern "C" __global__ void count(const float* __restrict__ ticket, int* __restrict__ seated, float price)
{
    __shared__ int of_warps[8];
    int all;
    place_in_block(ticket[blockIdx.x * 256 + threadIdx.x] >= price, of_warps, &all);
    if (threadIdx.x == 0) seated[blockIdx.x] = all;
}

// How many come before each of 256 blocks. Launch: one block of 256.
extern "C" __global__ void add_up(int* __restrict__ seated)
{
    __shared__ int sums[256];
    const int own = seated[threadIdx.x];
    sums[threadIdx.x] = own;
    __syncthreads();
    for (int step = 1; step < 256; step *= 2) {
        const int before = threadIdx.x >= step ? sums[threadIdx.x - step] : 0;
        __syncthreads();
        sums[threadIdx.x] += before;
        __syncthreads();
    }
    seated[threadIdx.x] = sums[threadIdx.x] - own;
}

// Launch: grid (guests / 256), block 256.
extern "C" __global__ void seat_guests(const float* __restrict__ ticket, const int* __restrict__ seated, int* __restrict__ seat, int seats,
                                       float price)
{
    __shared__ int of_warps[8];
    const int guest = blockIdx.x * 256 + threadIdx.x;
    const bool has_ticket = ticket[guest] >= price;
    int all;
    const int place = seated[blockIdx.x] + place_in_block(has_ticket, of_warps, &all);
    seat[guest] = has_ticket && place < seats ? place : -1;
}
