// The longest run of lost samples in each record of telemetry, and how many samples are lost in all. A record has 8192 samples
// of a byte; 255 stands for a lost one. A thread looks at 16 samples, and what threads found is joined in their order: a run
// may reach over several of them.

constexpr int THREADS = 512;

struct Span {
    int head, tail, best, lost, length;  // losses at the start, at the end, in the longest run, in all; samples
};

__device__ __forceinline__ Span join(const Span& a, const Span& b)
{
    Span c;
    c.head = a.head == a.length ? a.length + b.head : a.head;
    c.tail = b.tail == b.length ? b.length + a.tail : b.tail;
    c.best = max(max(a.best, b.best), a.tail + b.head);
    c.lost = a.lost + b.lost;
    c.length = a.length + b.length;
    return c;
}

// The span of sixteen samples.
__device__ __forceinline__ Span look(uint4 samples)
{
    const unsigned words[4] = {samples.x, samples.y, samples.z, samples.w};
    unsigned bits = 0;
#pragma unroll
    for (int w = 0; w < 4; ++w)
#pragma unroll
        for (int b = 0; b < 4; ++b)
            bits |= (unsigned)((words[w] >> (8 * b) & 255) == 255) << (4 * w + b);
    Span s;
    s.length = 16;
    s.lost = __popc(bits);
    s.head = __ffs(~bits) - 1;
    s.tail = __clz(~(bits << 16));
    s.best = 0;
    for (unsigned run = bits; run; run &= run << 1)
        ++s.best;
    return s;
}

// Launch: a block of 512 a record.
extern "C" __global__ void __launch_bounds__(THREADS)
longest_gap(const uint4* __restrict__ records, int2* __restrict__ gaps)
{
    const Span mine = look(records[(size_t)blockIdx.x * THREADS + threadIdx.x]);
#ifdef COLLECT
    __shared__ int4 found[THREADS];
    found[threadIdx.x] = make_int4(mine.head, mine.tail, mine.best, mine.lost);
    __syncthreads();
    if (threadIdx.x == 0) {
        Span all = mine;
        for (int t = 1; t < THREADS; ++t) {
            const int4 f = found[t];
            all = join(all, Span{f.x, f.y, f.z, f.w, 16});
        }
        gaps[blockIdx.x] = make_int2(all.best, all.lost);
    }
#else
    __shared__ int4 found[THREADS / 32];
    Span all = mine;
#pragma unroll
    for (int step = 1; step < 32; step *= 2) {
        Span other;
        other.head = __shfl_down_sync(~0u, all.head, step);
        other.tail = __shfl_down_sync(~0u, all.tail, step);
        other.best = __shfl_down_sync(~0u, all.best, step);
        other.lost = __shfl_down_sync(~0u, all.lost, step);
        other.length = all.length;
        all = join(all, other);
    }
    if (threadIdx.x % 32 == 0)
        found[threadIdx.x / 32] = make_int4(all.head, all.tail, all.best, all.lost);
    __syncthreads();
    if (threadIdx.x == 0) {
#pragma unroll
        for (int w = 1; w < THREADS / 32; ++w) {
            const int4 f = found[w];
            all = join(all, Span{f.x, f.y, f.z, f.w, 512});
        }
        gaps[blockIdx.x] = make_int2(all.best, all.lost);
    }
#endif
}
