// C = A B' for many matrices of 16 x 16. PITCH is the distance of a tile's rows in shared memory: lanes have a row each and
// take 16 bytes of it at a time, and where rows lie 16 words apart, four of any eight lanes meet in the same banks. ALONG_ROWS has neighbouring lanes write
// neighbouring elements of C instead of elements 64 bytes apart.

#ifndef PITCH
#define PITCH 16
#endif

// Launch: grid products, block (16, 16).
extern "C" __global__ void __launch_bounds__(256)
multiply_small(const float* __restrict__ A, const float* __restrict__ B, float* __restrict__ C)
{
    __shared__ __align__(16) float a[16][PITCH], b[16][PITCH];
    const int x = threadIdx.x, y = threadIdx.y;
    const size_t matrix = (size_t)blockIdx.x * 256;
    a[y][x] = A[matrix + y * 16 + x];
    b[y][x] = B[matrix + y * 16 + x];
    __syncthreads();

#ifdef ALONG_ROWS
    const int row = y, column = x;
#else
    const int row = x, column = y;
#endif
    float sum = 0.0f;
#pragma unroll
    for (int k = 0; k < 16; ++k)
        sum += a[row][k] * b[column][k];
    C[matrix + row * 16 + column] = sum;
}
