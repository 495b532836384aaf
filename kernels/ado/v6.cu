// ADO, step 6: the product hidden behind the stream of input.
//
// The input can't be read faster than device memory delivers it. What is left to win is a read that never
// pauses and a product that takes no time of its own. Against step 5: 16-byte loads, eight in flight a lane;
// and one kernel whose blocks stay on the GPU and draw units of work, among them the product of the sets that
// were averaged a little earlier, so that it is computed while the later sets stream in.

constexpr int THREADS = 256;
constexpr int WARPS = THREADS / 32;
constexpr int BLOCKS_PER_SM = 3;  // 24 warps keep the memory busy; more only make its queues longer

constexpr int COMPONENTS = 32;    // averages in a unit of averaging
constexpr int IN_FLIGHT = 8;      // 16-byte loads that a lane issues before it needs the first

constexpr int GROUP = 16;         // sets that are multiplied together
constexpr int LAG = 3;            // groups averaged before the first is multiplied
constexpr int TILE = 16;          // matrix rows in a unit of the product: TILE x GROUP outputs
constexpr int DEPTH = 64;         // columns of the matrix in shared memory at a time

// The warps share out the depth of a tile, so that each has all TILE x GROUP outputs to itself and an operand
// read from shared memory serves several of them. Its lanes are 4 rows by 8 sets.
constexpr int SLICE = DEPTH / WARPS;
constexpr int ROWS_EACH = TILE / 4;
constexpr int SETS_EACH = GROUP / 8;

// Rows in shared memory are padded by 16 bytes, so that eight of them start in different banks.
constexpr int PITCH = DEPTH + 4;

struct Unit {
    bool product;
    unsigned group;  // of sets
    unsigned part;   // which unit of the group
};

// What a ticket stands for. LAG groups are averaged first; then the products of a group and the averages of
// the group LAG later take turns; the products of the last LAG groups are left for the end.
//
// So a product's ticket comes after the tickets of all averages that it reads, far enough for it to wait
// seldom. When it does wait, then for units that running blocks have drawn; and the lowest open ticket waits
// for nothing. The kernel ends, however few of its blocks are resident at a time.
//
// 32 bits suffice: 2^32 units would be more averages than any device holds.
__device__ __forceinline__ Unit unit_of(unsigned ticket, unsigned groups, unsigned averagings, unsigned products)
{
    const unsigned lag = min((unsigned)LAG, groups);
    if (ticket < lag * averagings)
        return {false, ticket / averagings, ticket % averagings};
    ticket -= lag * averagings;

    const unsigned round = products + averagings;
    const unsigned rounds = groups - lag;
    if (ticket < rounds * round) {
        const unsigned group = ticket / round;
        const unsigned place = ticket % round;
        if (place < products)
            return {true, group, place};
        return {false, group + lag, place - products};
    }
    ticket -= rounds * round;

    return {true, rounds + ticket / products, ticket % products};
}

// The count of finished units is written with PTX's release and read with its acquire. __threadfence() would do,
// but it orders more than is needed, and every unit of averaging would pay for that.
__device__ __forceinline__ void announce(unsigned* count)
{
    asm volatile("red.release.gpu.global.add.u32 [%0], 1;" : : "l"(__cvta_generic_to_global(count)) : "memory");
}

__device__ __forceinline__ unsigned announced(const unsigned* count)
{
    unsigned value;
    asm volatile("ld.acquire.gpu.global.u32 %0, [%1];"
                 : "=r"(value)
                 : "l"(__cvta_generic_to_global(count))
                 : "memory");
    return value;
}

// Every input byte is used once, so it needs no place in L1.
__device__ __forceinline__ float4 load_once(const float4* address)
{
    float4 v;
    asm("ld.global.nc.L1::no_allocate.v4.f32 {%0, %1, %2, %3}, [%4];"
        : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w)
        : "l"(__cvta_generic_to_global(address)));
    return v;
}

// A warp adds up the M values of a component. The sum is whole in lane 0 only.
__device__ __forceinline__ float sum_component(const float* component, int M, bool aligned)
{
    const int lane = threadIdx.x % 32;
    float sum = 0.0f;
    if (aligned) {
        const float4* quads = (const float4*)component;
        const int count = M / 4;
        int i = lane;
        for (; i + 32 * (IN_FLIGHT - 1) < count; i += 32 * IN_FLIGHT) {
            float4 v[IN_FLIGHT];
#pragma unroll
            for (int u = 0; u < IN_FLIGHT; ++u)
                v[u] = load_once(quads + i + 32 * u);
#pragma unroll
            for (int u = 0; u < IN_FLIGHT; ++u)
                sum += (v[u].x + v[u].y) + (v[u].z + v[u].w);
        }
        for (; i < count; i += 32) {
            const float4 v = load_once(quads + i);
            sum += (v.x + v.y) + (v.z + v.w);
        }
    } else {
#pragma unroll 8
        for (int i = lane; i < M; i += 32)
            sum += __ldg(component + i);
    }
    for (int offset = 16; offset > 0; offset /= 2)
        sum += __shfl_down_sync(0xffffffffu, sum, offset);
    return sum;
}

// Four consecutive floats of a row from column j on. What lies beyond the row is zero, and so is a row that isn't
// there. Read from L2, never from L1: other multiprocessors write averages during this launch.
__device__ __forceinline__ float4 load_quad(const float* row, int j, int L, bool aligned)
{
    float4 v = {0.0f, 0.0f, 0.0f, 0.0f};
    if (row == nullptr || j >= L)
        return v;
    if (aligned)
        return __ldcg((const float4*)(row + j));
    v.x = __ldcg(row + j);
    if (j + 1 < L) v.y = __ldcg(row + j + 1);
    if (j + 2 < L) v.z = __ldcg(row + j + 2);
    if (j + 3 < L) v.w = __ldcg(row + j + 3);
    return v;
}

// The block multiplies TILE rows of the matrix with the averages of one group.
__device__ __forceinline__ void multiply_group(const float* matrix, const float* averages, float* output,
                                               int N, int L, unsigned group, unsigned part)
{
    __shared__ __align__(16) float tile[TILE + GROUP][PITCH];  // matrix rows, then averages
    constexpr int QUADS = DEPTH / 4;
    constexpr int LOADS = (TILE + GROUP) * QUADS / THREADS;
    static_assert(LOADS * THREADS == (TILE + GROUP) * QUADS, "every thread loads as much");

    const int first_row = part * TILE;
    const int first_set = group * GROUP;
    const bool aligned = L % 4 == 0 && ((size_t)matrix | (size_t)averages) % 16 == 0;

    const int quad = threadIdx.x % QUADS;
    const float* source[LOADS];
    float4 ahead[LOADS];
#pragma unroll
    for (int l = 0; l < LOADS; ++l) {
        const int r = (threadIdx.x + l * THREADS) / QUADS;
        const int row = first_row + r;
        const int set = first_set + r - TILE;
        if (r < TILE)
            source[l] = row < L ? matrix + (size_t)row * L : nullptr;
        else
            source[l] = set < N ? averages + (size_t)set * L : nullptr;
        ahead[l] = load_quad(source[l], quad * 4, L, aligned);
    }

    const int warp = threadIdx.x / 32;
    const int row = threadIdx.x % 32 / 8;
    const int set = threadIdx.x % 8;
    float sum[ROWS_EACH][SETS_EACH] = {};
    for (int j = 0; j < L; j += DEPTH) {
#pragma unroll
        for (int l = 0; l < LOADS; ++l)
            *(float4*)&tile[(threadIdx.x + l * THREADS) / QUADS][quad * 4] = ahead[l];
        __syncthreads();

        // The next columns are on their way while these are used.
#pragma unroll
        for (int l = 0; l < LOADS; ++l)
            ahead[l] = load_quad(source[l], j + DEPTH + quad * 4, L, aligned);

#pragma unroll 1  // unrolled it needs more registers than there are
        for (int d = warp * SLICE; d < (warp + 1) * SLICE; d += 4) {
            float4 b[SETS_EACH];
#pragma unroll
            for (int s = 0; s < SETS_EACH; ++s)
                b[s] = *(const float4*)&tile[TILE + set + 8 * s][d];
#pragma unroll
            for (int r = 0; r < ROWS_EACH; ++r) {
                const float4 a = *(const float4*)&tile[row + 4 * r][d];
#pragma unroll
                for (int s = 0; s < SETS_EACH; ++s) {
                    sum[r][s] += a.x * b[s].x;
                    sum[r][s] += a.y * b[s].y;
                    sum[r][s] += a.z * b[s].z;
                    sum[r][s] += a.w * b[s].w;
                }
            }
        }
        __syncthreads();  // before the next columns overwrite these
    }

    // The warps' sums are added up where the tile was.
    float(*partial)[TILE * GROUP] = (float(*)[TILE * GROUP])tile;
    static_assert(sizeof(tile) >= sizeof(float) * WARPS * TILE * GROUP, "the sums fit there");
#pragma unroll
    for (int r = 0; r < ROWS_EACH; ++r) {
#pragma unroll
        for (int s = 0; s < SETS_EACH; ++s)
            partial[warp][(row + 4 * r) * GROUP + set + 8 * s] = sum[r][s];
    }
    __syncthreads();
    for (int o = threadIdx.x; o < TILE * GROUP; o += THREADS) {
        float total = 0.0f;
#pragma unroll
        for (int w = 0; w < WARPS; ++w)
            total += partial[w][o];
        const int i = first_row + o / GROUP;
        const int k = first_set + o % GROUP;
        if (i < L && k < N)
            output[(size_t)i * N + k] = total;
    }
}

// Launch: grid SMS * 3 (any number is right, this one is fast), block 256, no dynamic shared memory.
//
// averages   scratch, N x L floats, any content; element k * L + j is component j of the average of set k
// counters   scratch, 2 + ceil(N / 16) words, zero before the first launch; each launch leaves them zero
extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS_PER_SM)
stream_and_multiply(const float* __restrict__ input, const float* __restrict__ matrix,
                    float* averages, unsigned* counters, float* __restrict__ output,
                    int N, int M, int L)
{
    __shared__ unsigned drawn[2];  // by turns, so that a slow warp still finds the ticket it is to read
    __shared__ bool last;
    unsigned* const next_ticket = counters;
    unsigned* const blocks_done = counters + 1;
    unsigned* const averagings_done = counters + 2;  // one a group

    const unsigned groups = (N + GROUP - 1) / GROUP;
    const unsigned averagings = ((size_t)GROUP * L + COMPONENTS - 1) / COMPONENTS;  // units a group
    const unsigned products = (L + TILE - 1) / TILE;                                // units a group
    const unsigned units = groups * (averagings + products);
    const bool aligned = M % 4 == 0 && (size_t)input % 16 == 0;
    const bool leader = threadIdx.x == 0;

    // Even the first ticket is drawn, not taken from the block's index: a block that isn't resident yet must
    // not own a unit that others wait for.
    if (leader)
        drawn[0] = atomicAdd(next_ticket, 1u);
    __syncthreads();
    unsigned ticket = drawn[0];

    for (int turn = 1; ticket < units; turn ^= 1) {
        unsigned next = 0;
        if (leader)
            next = atomicAdd(next_ticket, 1u);  // arrives while this unit is worked on

        const Unit unit = unit_of(ticket, groups, averagings, products);
        if (unit.product) {
            if (leader)
                while (announced(&averagings_done[unit.group]) < averagings)
                    __nanosleep(50);
            __syncthreads();
            multiply_group(matrix, averages, output, N, L, unit.group, unit.part);
        } else {
            const size_t group_begin = (size_t)unit.group * GROUP * L;
            const size_t group_end = min(group_begin + (size_t)GROUP * L, (size_t)N * L);
            const size_t begin = group_begin + (size_t)unit.part * COMPONENTS;
            const size_t end = min(begin + COMPONENTS, group_end);
            for (size_t c = begin + threadIdx.x / 32; c < end; c += WARPS) {
                const float sum = sum_component(input + c * M, M, aligned);
                if (threadIdx.x % 32 == 0)
                    averages[c] = sum / M;
            }
        }

        if (leader)
            drawn[turn] = next;
        __syncthreads();
        if (leader && !unit.product)
            announce(&averagings_done[unit.group]);  // after the barrier: for all warps' averages
        ticket = drawn[turn];
    }

    // The last block to leave puts the counters back, so that the next launch needs no clearing.
    if (leader) {
        __threadfence();
        last = atomicAdd(blocks_done, 1u) == gridDim.x - 1;
    }
    __syncthreads();
    if (last)
        for (unsigned i = threadIdx.x; i < 2 + groups; i += THREADS)
            counters[i] = 0;
}
