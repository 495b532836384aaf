// An equalizer: each band of a spectrum times its gain. The launch says where it begins.

// Launch: grid values / 128, block 128. A band has `width` values.
extern "C" __global__ void __launch_bounds__(128)
equalize(const float* __restrict__ spectrum, const float* __restrict__ gains, float* __restrict__ equalized,
         unsigned width, unsigned first)
{
    const unsigned i = first + blockIdx.x * 128 + threadIdx.x;
    equalized[i] = spectrum[i] * gains[i / width];
}
