// Labels of parcels, eight numbers each: eight lanes mix the same parcel's number, each for itself.

static __device__ __forceinline__ unsigned long long mix(unsigned long long number)
{
    number = (number ^ number >> 31) * 0x7fb5d329728ea185ull;
    number = (number ^ number >> 27) * 0x81dadef4bc2dd44dull;
    return number ^ number >> 33;
}

// Launch: grid (parcels * 8 / 256), block 256.
extern "C" __global__ void label(const unsigned* __restrict__ numbers, const float* __restrict__ shelves, float* __restrict__ labels,
                                 unsigned long long shelf_count)
{
    const unsigned parcel = (blockIdx.x * blockDim.x + threadIdx.x) / 8, part = threadIdx.x % 8;
    const unsigned long long mixed = mix(numbers[parcel]);
    const unsigned long long shelf = mixed % shelf_count;
    labels[(size_t)parcel * 8 + part] = shelves[shelf * 8 + part] * (float)(mixed >> part * 8 & 255);
}
