// How much of its star's light a planet takes away, over a night of double-precision exposures. Each exposure is divided by the
// star's flux and by the number of its pixels, which no exposure changes.

extern "C" __global__ void depths(const double* __restrict__ exposure, const double* __restrict__ star,
                                  double* __restrict__ depth, int nights)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const double flux = star[i & 63], pixels = star[64 + (i & 63)];
#ifdef INVERTED
    const double of_flux = 1.0 / flux, of_pixels = 1.0 / pixels;
#endif
    double sum = 0.0;
    for (int night = 0; night < nights; ++night) {
        const double light = exposure[(size_t)night * gridDim.x * blockDim.x + i];
#ifdef INVERTED
        sum += 1.0 - light * of_flux * of_pixels;
#else
        sum += 1.0 - light / flux / pixels;
#endif
    }
    depth[i] = sum;
}
