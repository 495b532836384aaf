// Bonds of a three-dimensional Potts model with periodic borders: for each site how many of its six neighbours share its state, and
// whether it is a local seed, where the three neighbours ahead agree.

#ifdef BY_REMAINDER
__device__ __forceinline__ int ahead(int x, int size) { return (x + 1) % size; }
__device__ __forceinline__ int behind(int x, int size) { return (x + size - 1) % size; }
#else
__device__ __forceinline__ int ahead(int x, int size) { return x + 1 == size ? 0 : x + 1; }
__device__ __forceinline__ int behind(int x, int size) { return x == 0 ? size - 1 : x - 1; }
#endif

// Launch: grid (ceil(size / 96), ceil(size / 4), size), block (96, 4).
extern "C" __global__ void __launch_bounds__(384)
bonds(const unsigned char* __restrict__ state, unsigned char* __restrict__ count, int size)
{
    const int x = blockIdx.x * 96 + threadIdx.x;
    const int y = blockIdx.y * 4 + threadIdx.y;
    const int z = blockIdx.z;
    if (x >= size || y >= size)
        return;
    const int row = (z * size + y) * size;
    const unsigned char own = state[row + x];
    const unsigned char east = state[row + ahead(x, size)];
    const unsigned char west = state[row + behind(x, size)];
    const unsigned char north = state[(z * size + ahead(y, size)) * size + x];
    const unsigned char south = state[(z * size + behind(y, size)) * size + x];
    const unsigned char above = state[(ahead(z, size) * size + y) * size + x];
    const unsigned char below = state[(behind(z, size) * size + y) * size + x];
    int bonded = (own == east) + (own == west) + (own == north) + (own == south) + (own == above) + (own == below);
    if (east == north && north == above)
        bonded |= 8;
    count[row + x] = bonded;
}
