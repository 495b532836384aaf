// Increment, step 4: four floats in one access.
//
// A thread's four floats lie next to each other and move as one float4. As many bytes are on their way as in step 3,
// with a quarter of its instructions: four accesses of 32 bits or one of 128 keep memory equally busy.

// Launch: grid ceil(n / 256), block 64, dynamic shared memory as the manifest says. Both arrays are 16-byte aligned.
extern "C" __global__ void increment_quad(const float* values, float* incremented, unsigned n)
{
    const unsigned quad = blockIdx.x * blockDim.x + threadIdx.x;
    const unsigned quads = n / 4;
    if (quad < quads) {
        float4 v = ((const float4*)values)[quad];
        v.x += 1.0f;
        v.y += 1.0f;
        v.z += 1.0f;
        v.w += 1.0f;
        ((float4*)incremented)[quad] = v;
    } else if (quad == quads) {
        // Up to three floats that fill no quad.
        for (unsigned i = 4 * quads; i < n; ++i)
            incremented[i] = values[i] + 1.0f;
    }
}
