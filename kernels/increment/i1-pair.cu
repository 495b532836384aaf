// Increment, step 1 with two floats in one access.
//
// A thread's two floats lie next to each other and move as one float2: what step 2 reaches with two accesses, in one.

// Launch: grid ceil(n / 128), block 64, dynamic shared memory as the manifest says. Both arrays are 8-byte aligned.
extern "C" __global__ void increment_pair(const float* values, float* incremented, unsigned n)
{
    const unsigned pair = blockIdx.x * blockDim.x + threadIdx.x;
    const unsigned pairs = n / 2;
    if (pair < pairs) {
        float2 v = ((const float2*)values)[pair];
        v.x += 1.0f;
        v.y += 1.0f;
        ((float2*)incremented)[pair] = v;
    } else if (pair == pairs && n % 2 == 1) {
        incremented[n - 1] = values[n - 1] + 1.0f;
    }
}
