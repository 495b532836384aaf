// Calls of birds, as runs of loudness in bytes: how loud each call is in all, and at most. A call begins where its list says and is
// as long as that gives. A thread goes through a call by itself, or a warp shares it.

struct Call {
    unsigned all, most;
};

static __device__ __forceinline__ void take(Call& call, unsigned loudness)
{
    call.all += loudness;
    call.most = max(call.most, loudness);
}

// A call's place: calls lie in slots of equal size, and each is some way shorter.
static __device__ __forceinline__ int end_of(int call, int slot, const unsigned char* __restrict__ shorter)
{
    return call * slot + slot - shorter[call];
}

#ifdef BY_THREAD
// Launch: grid calls / 128, block 128.
extern "C" __global__ void __launch_bounds__(128)
loudness(const unsigned char* __restrict__ heard, const unsigned char* __restrict__ shorter, int slot, uint2* __restrict__ calls)
{
    const int i = blockIdx.x * 128 + threadIdx.x;
    const int end = end_of(i, slot, shorter);
    Call call = {0, 0};
    for (int at = i * slot; at < end; ++at)
        take(call, heard[at]);
    calls[i] = make_uint2(call.all, call.most);
}
#else
// Launch: grid calls / 4, block 128.
extern "C" __global__ void __launch_bounds__(128)
loudness(const unsigned char* __restrict__ heard, const unsigned char* __restrict__ shorter, int slot, uint2* __restrict__ calls)
{
    const int i = blockIdx.x * 4 + threadIdx.x / 32, lane = threadIdx.x % 32;
    const int end = end_of(i, slot, shorter);
    Call call = {0, 0};
    for (int at = i * slot + lane; at < end; at += 32)
        take(call, heard[at]);
    for (int other = 16; other > 0; other /= 2) {
        call.all += __shfl_xor_sync(~0u, call.all, other);
        call.most = max(call.most, __shfl_xor_sync(~0u, call.most, other));
    }
    if (lane == 0)
        calls[i] = make_uint2(call.all, call.most);
}
#endif
