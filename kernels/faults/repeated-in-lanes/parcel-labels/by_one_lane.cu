// Labels of parcels, eight numbers each: each lane mixes a parcel's number of its own and hands it to the eight that label it.

static __device__ __forceinline__ unsigned long long mix(unsigned long long number)
{
    number = (number ^ number >> 31) * 0x7fb5d329728ea185ull;
    number = (number ^ number >> 27) * 0x81dadef4bc2dd44dull;
    return number ^ number >> 33;
}

// Launch: grid (parcels / 256), block 256.
extern "C" __global__ void label(const unsigned* __restrict__ numbers, const float* __restrict__ shelves, float* __restrict__ labels,
                                 unsigned long long shelf_count)
{
    const unsigned own = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32, part = lane % 8;
    const unsigned long long mine = mix(numbers[own]);
    const unsigned my_shelf = (unsigned)(mine % shelf_count);
#pragma unroll
    for (unsigned turn = 0; turn < 8; ++turn) {
        const unsigned from = turn * 4 + lane / 8;
        const unsigned long long mixed = __shfl_sync(~0u, mine, from);
        const size_t shelf = __shfl_sync(~0u, my_shelf, from);
        const size_t parcel = own - lane + from;
        labels[parcel * 8 + part] = shelves[shelf * 8 + part] * (float)(mixed >> part * 8 & 255);
    }
}
