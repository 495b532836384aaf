// Bricks in a kiln: what becomes of each while the air around it goes through 512 temperatures. A block takes a kiln. Its 256 threads are more than there
// are bricks: each brick is followed by four of them, and the first one stores the result.

constexpr int TIMES = 512;

struct Brick {
    float now, highest, sum, steepest;

    // Heat comes by conduction, and by radiation with the fourth power of the temperatures.
    __device__ __forceinline__ void warm(float air, float conduction, float radiation)
    {
        const float difference = air - now;
        const float squares = air * air + now * now;
        const float rate = conduction + radiation * squares * (air + now);
        const float step = rate * difference;
        now += step;
        highest = fmaxf(highest, now);
        sum += now;
        steepest = fmaxf(steepest, fabsf(step));
    }
};

// Launch: grid (kilns), block 256.
extern "C" __global__ void __launch_bounds__(256)
fire(const float4* __restrict__ air, const float4* __restrict__ brick, float4* __restrict__ fired, int bricks)
{
    const int mine = threadIdx.x % 64;
    const size_t of_brick = (size_t)blockIdx.x * bricks + mine;
    const float4 start = brick[of_brick];
    const float first = 0.27f + start.z;
    Brick state = {first, first, 0.0f, 0.0f};
    const float4* around = air + (size_t)blockIdx.x * (TIMES / 4);
#pragma unroll 4
    for (int time = 0; time < TIMES / 4; ++time) {
        const float4 four = around[time];
        state.warm(four.x, start.x, start.y);
        state.warm(four.y, start.x, start.y);
        state.warm(four.z, start.x, start.y);
        state.warm(four.w, start.x, start.y);
    }
    if (threadIdx.x < 64)
        fired[of_brick] = make_float4(state.now, state.highest, state.sum / TIMES, state.steepest);
}
