// A plain copy: the yardstick that `adoprof limiter` times at the occupancy of the kernel in question. What it reaches
// with so many threads on an SM and so many bytes each, a kernel without other work can reach too.

template <typename T>
__device__ __forceinline__ void copy_one(const T* __restrict__ from, T* __restrict__ to, unsigned n)
{
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        to[i] = from[i];
}

// Launch: a thread for each of the n words, in blocks of any size.
extern "C" __global__ void copy_words(const float* __restrict__ from, float* __restrict__ to, unsigned n)
{
    copy_one(from, to, n);
}

// The same with four words a thread: n quads.
extern "C" __global__ void copy_quads(const float4* __restrict__ from, float4* __restrict__ to, unsigned n)
{
    copy_one(from, to, n);
}
