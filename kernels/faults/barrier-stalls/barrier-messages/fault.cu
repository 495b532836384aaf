// Messages encoded by a code book, a message a warp at a time. The exchange between lanes is fenced by barriers of the
// whole block, which no other warp needs.

constexpr int MESSAGES = 24;  // of a warp

// Launch: grid warps / 16, block 512. `book` has `lines` of 32 words, a power of two; `lengths` is a number of words for each message.
extern "C" __global__ void __launch_bounds__(512)
encode(const unsigned* __restrict__ book, const unsigned* __restrict__ lengths, unsigned* __restrict__ digests, int lines)
{
    __shared__ unsigned exchange[512];
    const int warp = blockIdx.x * 16 + threadIdx.x / 32, lane = threadIdx.x % 32;
    unsigned state = warp * 0x9e3779b1u;
    for (int m = 0; m < MESSAGES; ++m) {
        const unsigned length = lengths[warp * MESSAGES + m];
        unsigned line = (state ^ m * 0x85ebca6bu) >> 5;
#pragma unroll 1
        for (unsigned w = 0; w < length; ++w) {
            const unsigned word = book[(size_t)(line & lines - 1) * 32 + lane];
            state = __funnelshift_l(state, state, 7) ^ word;
            line = __shfl_sync(~0u, state, 0) * 0x9e3779b1u >> 6;  // the next line depends on this one
        }
        exchange[threadIdx.x] = state;
        __syncthreads();
        state += exchange[threadIdx.x ^ 5];
        __syncthreads();
    }
    digests[warp * 32 + lane] = state;
}
