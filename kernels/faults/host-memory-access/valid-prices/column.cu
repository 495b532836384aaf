// Sums over a nullable column of a table: prices in cents, and a bit for each row that says whether it has one. A warp
// takes 1024 rows at a time: a lane fetches the bits of 32 rows and hands them round.

constexpr int ROWS = 1024;  // of a chunk

// Launch: grid chunks / 8, block (32, 8). Sum and number of the valid rows of each chunk.
extern "C" __global__ void __launch_bounds__(256)
sum_valid(const int* __restrict__ price, const unsigned* __restrict__ valid, int* __restrict__ total,
          int* __restrict__ count, int chunks)
{
    const int chunk = blockIdx.x * blockDim.y + threadIdx.y, lane = threadIdx.x;
    if (chunk >= chunks)
        return;
    const unsigned bits = valid[chunk * (ROWS / 32) + lane];
    const int* rows = price + (size_t)chunk * ROWS + lane;

    int sum = 0;
#pragma unroll 16
    for (int j = 0; j < ROWS / 32; ++j) {
        const int cents = rows[32 * j];
        const unsigned word = __shfl_sync(~0u, bits, j);
        sum += word >> lane & 1 ? cents : 0;
    }
    sum = __reduce_add_sync(~0u, sum);
    const int present = __reduce_add_sync(~0u, __popc(bits));
    if (lane == 0) {
        total[chunk] = sum;
        count[chunk] = present;
    }
}
