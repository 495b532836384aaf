// Sums up the magnitudes of what the coils receive: parts of about one, whose squares are no large numbers.
extern "C" __global__ void combine(const float* __restrict__ received, const float* __restrict__ offsets,
    float* __restrict__ image, int coils, int echoes, int voxels)
{
    const int voxel = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    for (int coil = 0; coil < coils; ++coil) {
        const float real = received[coil * voxels + voxel];
        const float imaginary = received[(coils + coil) * voxels + voxel];
        for (int echo = 0; echo < echoes; ++echo) {
            const float x = real + offsets[echo], y = imaginary + offsets[echoes + echo];
            const float square = x * x + y * y;
            sum += square * rsqrtf(fmaxf(square, 1e-30f));
        }
    }
    image[voxel] = sum;
}
