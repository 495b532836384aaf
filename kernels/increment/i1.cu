// Increment, step 1: one float per thread, and few threads.
//
// Each thread loads a float, adds 1 and stores it. The store waits for the load, so a warp never has more than one
// load of 128 bytes on its way. The launch asks for 48 KB of dynamic shared memory a block that nobody uses: a few
// blocks of 64 threads fill a multiprocessor, and what these few warps have on their way is far below what
// memory could deliver in the time that it takes to answer.

// Launch: grid ceil(n / 64), block 64, dynamic shared memory as the manifest says.
extern "C" __global__ void increment_one(const float* values, float* incremented, unsigned n)
{
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        incremented[i] = values[i] + 1.0f;
}
