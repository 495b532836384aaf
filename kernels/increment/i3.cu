// Increment, step 3: four floats per thread.
//
// Again twice as many loads on their way from the same few warps. Registers are what it costs, and here there are
// plenty of them.

constexpr unsigned EACH = 4;  // floats a thread

// Launch: grid ceil(n / 256), block 64, dynamic shared memory as the manifest says.
extern "C" __global__ void increment_four(const float* values, float* incremented, unsigned n)
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
