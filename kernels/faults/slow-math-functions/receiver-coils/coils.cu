// Sums up the magnitudes of what the coils receive, with the field's offset at each echo.
extern "C" __global__ void combine(const float* __restrict__ received, const float* __restrict__ offsets,
    float* __restrict__ image, int coils, int echoes, int voxels)
{
    const int voxel = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    for (int coil = 0; coil < coils; ++coil) {
        const float real = received[coil * voxels + voxel];
        const float imaginary = received[(coils + coil) * voxels + voxel];
        for (int echo = 0; echo < echoes; ++echo)
            sum += hypotf(real + offsets[echo], imaginary + offsets[echoes + echo]);
    }
    image[voxel] = sum;
}
