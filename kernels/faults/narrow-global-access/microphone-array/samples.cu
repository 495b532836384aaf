// Samples of an array of microphones, in half precision and interleaved: each microphone has an offset of its own, and what is
// beyond the converter's range is bent by a tanh. A thread takes one sample, or eight neighbouring ones in one access.

using Half = unsigned short;  // its bits

static __device__ __forceinline__ Half bent(Half sample, Half offset)
{
    float x;
    Half result;
    asm("add.rn.f16 %0, %1, %2;" : "=h"(result) : "h"(sample), "h"(offset));
    asm("cvt.f32.f16 %0, %1;" : "=f"(x) : "h"(result));
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(result) : "f"(tanhf(x)));
    return result;
}

#ifdef ONE_BY_ONE
// Launch: grid samples / 256, block 256.
extern "C" __global__ void __launch_bounds__(256)
bend(const Half* __restrict__ samples, const Half* __restrict__ offsets, int microphones, int count, Half* __restrict__ bent_samples)
{
    const int i = blockIdx.x * 256 + threadIdx.x;
    if (i < count)
        bent_samples[i] = bent(samples[i], offsets[i % microphones]);
}
#else
union Eight {
    uint4 words;
    Half halves[8];
};

// Launch: grid samples / 2048, block 256. The number of microphones is a multiple of 8.
extern "C" __global__ void __launch_bounds__(256)
bend(const uint4* __restrict__ samples, const uint4* __restrict__ offsets, int microphones, int count, uint4* __restrict__ bent_samples)
{
    const int i = blockIdx.x * 256 + threadIdx.x;
    if (i >= count / 8)
        return;
    Eight x, of;
    x.words = samples[i];
    of.words = offsets[i % (microphones / 8)];
#pragma unroll
    for (int k = 0; k < 8; ++k)
        x.halves[k] = bent(x.halves[k], of.halves[k]);
    bent_samples[i] = x.words;
}
#endif
