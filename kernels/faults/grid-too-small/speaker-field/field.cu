// Sound pressure in front of an array of loudspeakers: at each point of a plane the waves of all of them meet, each with its
// distance, delay and gain. Points are dealt to however many threads there are.

constexpr int SPEAKERS = 96;

struct Speaker {
    float x, y, delay, gain;
};

// Launch: any grid, block (64, 8). Points are `step` metres apart, in a plane `away` metres from the array.
extern "C" __global__ void __launch_bounds__(512)
pressure(const float4* __restrict__ array, float2* __restrict__ field, int across, int down, float step, float away,
         float wave_number)
{
    __shared__ Speaker speakers[SPEAKERS];
    const int thread = threadIdx.y * 64 + threadIdx.x;
    if (thread < SPEAKERS) {
        const float4 s = array[thread];
        speakers[thread] = {s.x, s.y, s.z, s.w};
    }
    __syncthreads();

    const int tiles_across = (across + 63) / 64, tiles = tiles_across * ((down + 7) / 8);
    for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
        const int column = tile % tiles_across * 64 + threadIdx.x, row = tile / tiles_across * 8 + threadIdx.y;
        if (column >= across || row >= down)
            continue;
        const float x = step * (column - 0.5f * across), y = step * (row - 0.5f * down);
        float re = 0.0f, im = 0.0f;
#pragma unroll 4
        for (int s = 0; s < SPEAKERS; ++s) {
            const Speaker speaker = speakers[s];
            const float dx = x - speaker.x, dy = y - speaker.y;
            const float square = fmaf(dx, dx, fmaf(dy, dy, away * away));
            const float inverse = rsqrtf(square);
            const float phase = fmaf(wave_number, square * inverse, speaker.delay);
            const float level = speaker.gain * inverse;
            re = fmaf(level, __cosf(phase), re);
            im = fmaf(level, __sinf(phase), im);
        }
        field[(size_t)row * across + column] = make_float2(re, im);
    }
}
