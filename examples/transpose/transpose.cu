// A matrix of rows x columns floats, transposed.

#ifndef TILE
#define TILE 32
#endif

// Reads along rows, which is coalesced, and writes along columns, which is not.
__global__ void transpose(const float* in, float* out, unsigned rows, unsigned columns)
{
    const unsigned x = blockIdx.x * blockDim.x + threadIdx.x;
    const unsigned y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < columns && y < rows)
        out[x * rows + y] = in[y * columns + x];
}

// A tile passes through shared memory, so that both sides go along rows. Its rows are WIDTH floats wide: with 33 a
// column's elements lie in different banks.
__global__ void __launch_bounds__(TILE * 8)
transpose_tile(const float* in, float* out, unsigned rows, unsigned columns)
{
    extern __shared__ float tile[];
    unsigned x = blockIdx.x * TILE + threadIdx.x;
    unsigned y = blockIdx.y * TILE + threadIdx.y;
    for (unsigned i = 0; i < TILE; i += 8)
        if (x < columns && y + i < rows)
            tile[(threadIdx.y + i) * WIDTH + threadIdx.x] = in[(y + i) * columns + x];
    __syncthreads();
    x = blockIdx.y * TILE + threadIdx.x;
    y = blockIdx.x * TILE + threadIdx.y;
    for (unsigned i = 0; i < TILE; i += 8)
        if (x < rows && y + i < columns)
            out[(y + i) * rows + x] = tile[threadIdx.x * WIDTH + threadIdx.y + i];
}

// The same bytes without the transposition: what memory allows.
__global__ void copy(const float* in, float* out, unsigned rows, unsigned columns)
{
    const unsigned x = blockIdx.x * blockDim.x + threadIdx.x;
    const unsigned y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < columns && y < rows)
        out[y * columns + x] = in[y * columns + x];
}
