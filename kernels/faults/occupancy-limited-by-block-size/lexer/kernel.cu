// Runs an automaton over streams of 4-bit symbols. Each symbol's transition needs the state before it, so that a thread
// waits for one load after the other; only other warps can fill the time.

constexpr int STATES = 8;

// Launch: grid streams / block, any block. Word k of stream s lies at words[k * streams + s].
extern "C" __global__ void
run_automaton(const unsigned* __restrict__ words, const unsigned char* __restrict__ transitions, unsigned* __restrict__ ends,
              unsigned streams, int length)
{
    const unsigned s = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned state = 0;
#pragma unroll 1
    for (int k = 0; k < length; ++k) {
        const unsigned word = words[k * streams + s];
#pragma unroll
        for (int bit = 0; bit < 32; bit += 4)
            state = transitions[state * 16 + (word >> bit & 15u)];
    }
    ends[s] = state;
}
