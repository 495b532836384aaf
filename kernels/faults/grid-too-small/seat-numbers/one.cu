// Which seat each guest gets, by one thread that goes through all of them.

// Nobody sits yet. Launch: grid (guests / 256), block 256.
extern "C" __global__ void stand(int* __restrict__ seat)
{
    seat[blockIdx.x * 256 + threadIdx.x] = -1;
}

// Launch: one thread.
extern "C" __global__ void seat_guests(const float* __restrict__ ticket, int* __restrict__ seat, int guests, int seats, float price)
{
    int next = 0;
    for (int guest = 0; guest < guests; ++guest) {
        if (ticket[guest] < price) continue;
        if (next < seats) {
            seat[guest] = next;
            ++next;
        }
    }
}
