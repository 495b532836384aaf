// Magnetic field lines in a tokamak, followed for many turns by the standard map: where a line meets the poloidal plane after each
// turn. Each thread follows four lines.

constexpr float TAU = 6.2831853f;

__device__ __forceinline__ float wrapped(float angle)
{
    const float turns = fmaf(angle, 1.0f / TAU, 12582912.0f) - 12582912.0f;
    return fmaf(turns, -TAU, angle);
}

__device__ __forceinline__ void turn(float& angle, float& flux, float shear)
{
    flux = fmaf(shear, __sinf(angle), flux);
    angle = wrapped(angle + flux);
}

// Launch: block 128; each block takes 512 lines.
extern "C" __global__ void __launch_bounds__(128)
follow(const float* __restrict__ start_angle, const float* __restrict__ start_flux, float* __restrict__ end_angle,
       float* __restrict__ end_flux, int turns, float shear)
{
    const int first = blockIdx.x * 512 + threadIdx.x;
#ifdef LINE_BY_LINE
#pragma unroll 1
    for (int j = 0; j < 4; ++j) {
        const int i = first + 128 * j;
        float angle = start_angle[i], flux = start_flux[i];
#pragma unroll 4
        for (int t = 0; t < turns; ++t)
            turn(angle, flux, shear);
        end_angle[i] = angle;
        end_flux[i] = flux;
    }
#else
    float angle[4], flux[4];
#pragma unroll
    for (int j = 0; j < 4; ++j) {
        angle[j] = start_angle[first + 128 * j];
        flux[j] = start_flux[first + 128 * j];
    }
#pragma unroll 4
    for (int t = 0; t < turns; ++t)
#pragma unroll
        for (int j = 0; j < 4; ++j)
            turn(angle[j], flux[j], shear);
#pragma unroll
    for (int j = 0; j < 4; ++j) {
        end_angle[first + 128 * j] = angle[j];
        end_flux[first + 128 * j] = flux[j];
    }
#endif
}
