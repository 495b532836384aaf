// A log is cut into slots of 256 tokens (classes of characters), each a line that ends at the first token 0. For every line and
// each of 32 states of an automaton: in which state does it end if it begins in that one? With this, lines can be
// joined in any order later. A warp takes a line, a lane a state.

constexpr int WARPS = 24, SLOT = 256, STATES = 32, TOKENS = 32;

#ifdef WHOLE_BLOCK
__device__ __forceinline__ void meet() { __syncthreads(); }
#else
__device__ __forceinline__ void meet() { __syncwarp(); }
#endif

// Launch: grid lines / (24 * rounds), block (32, 24).
extern "C" __global__ void __launch_bounds__(32 * WARPS, 2)
transitions(const uint2* __restrict__ text, const unsigned char* __restrict__ automaton,
            unsigned char* __restrict__ ends, int rounds)
{
    __shared__ unsigned next[TOKENS * STATES];
    __shared__ uint2 slot[WARPS][SLOT / 8];
    const int lane = threadIdx.x, warp = threadIdx.y;
    for (int token = warp; token < TOKENS; token += WARPS)
        next[token * STATES + lane] = automaton[token * STATES + lane];
    __syncthreads();

    for (int round = 0; round < rounds; ++round) {
        const size_t line = ((size_t)blockIdx.x * rounds + round) * WARPS + warp;
        slot[warp][lane] = text[line * (SLOT / 8) + lane];
        meet();
        const unsigned* words = reinterpret_cast<const unsigned*>(slot[warp]);
        unsigned state = lane;
        bool open = true;
#pragma unroll 1
        for (int w = 0; w < SLOT / 4 && open; ++w) {
            const unsigned four = words[w];
#pragma unroll
            for (int k = 0; k < 4; ++k) {
                const unsigned token = four >> 8 * k & 31;
                open = open && token != 0;
                if (open)
                    state = next[token * STATES + state];
            }
        }
        ends[line * STATES + lane] = state;
        meet();
    }
}
