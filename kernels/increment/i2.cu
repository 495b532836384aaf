// Increment, step 2: two floats per thread.
//
// Against step 1, which it resembles in all else, a thread has two loads on its way before it stores anything: the
// same few warps keep twice as many bytes moving. Its floats lie a block's width apart, so that each access of a
// warp still covers 128 consecutive bytes.

constexpr unsigned EACH = 2;  // floats a thread

// Launch: grid ceil(n / 128), block 64, dynamic shared memory as the manifest says.
extern "C" __global__ void increment_two(const float* values, float* incremented, unsigned n)
{
    const unsigned first = blockIdx.x * (EACH * blockDim.x) + threadIdx.x;

    // All loads come before the first store: the compiler may not move a load up across a store that
    // could, for all it knows, write the same memory.
    float value[EACH];
#pragma unroll
    for (unsigned e = 0; e < EACH; ++e) {
        const unsigned i = first + e * blockDim.x;
        value[e] = i < n ? values[i] : 0.0f;
    }
#pragma unroll
    for (unsigned e = 0; e < EACH; ++e) {
        const unsigned i = first + e * blockDim.x;
        if (i < n)
            incremented[i] = value[e] + 1.0f;
    }
}
