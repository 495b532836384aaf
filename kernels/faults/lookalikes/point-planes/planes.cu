// Scanned points, 12 attributes each, go from records to planes: a block fetches 128 records word by word, and its four
// warps then take the attributes in turn, scale them and write them to their planes.

constexpr int POINTS = 128, ATTRIBUTES = 12;
#ifndef PITCH
#define PITCH ATTRIBUTES
#endif

// Launch: grid points / 128, block 128.
extern "C" __global__ void __launch_bounds__(POINTS)
to_planes(const float* __restrict__ records, const float* __restrict__ scale, float* __restrict__ planes, int points)
{
    __shared__ float record[POINTS * PITCH];
    const size_t first = (size_t)blockIdx.x * POINTS;
#pragma unroll
    for (int j = 0; j < ATTRIBUTES; ++j) {
        const int word = j * POINTS + threadIdx.x;
        record[word / ATTRIBUTES * PITCH + word % ATTRIBUTES] = records[first * ATTRIBUTES + word];
    }
    __syncthreads();
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
#pragma unroll
    for (int a = warp; a < ATTRIBUTES; a += POINTS / 32) {
        const float factor = scale[a];
        float* plane = planes + (size_t)a * points + first;
#pragma unroll
        for (int p = lane; p < POINTS; p += 32)
            plane[p] = record[p * PITCH + a] * factor;
    }
}
