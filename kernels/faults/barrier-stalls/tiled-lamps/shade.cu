// Light on an image that is cut into tiles of 8 x 4 pixels, each with a list of the lamps that reach it. A warp shades a tile:
// it fetches 32 of the tile's lamps together, then every lane adds them up for its own pixel.

constexpr int MOST = 128;  // lamps a tile
constexpr int WARPS = 32;

__device__ __forceinline__ void meet()
{
#ifdef BLOCKWIDE
    __syncthreads();
#else
    __syncwarp();
#endif
}

// Launch: any grid, block (8, 4, 32). The tiles are a multiple of 32.
extern "C" __global__ void __launch_bounds__(1024)
shade(const float4* __restrict__ lamps, const unsigned char* __restrict__ counts, const unsigned* __restrict__ lists,
      const float* __restrict__ depth, float* __restrict__ light, int tiles, int tilesAcross)
{
    __shared__ float4 near[WARPS][32];
    const int warp = threadIdx.z, lane = threadIdx.y * 8 + threadIdx.x;

    for (int tile = blockIdx.x * WARPS + warp; tile < tiles; tile += gridDim.x * WARPS) {
        const int count = min((int)counts[tile], MOST);
        const float x = (tile % tilesAcross) * 8 + threadIdx.x;
        const float y = (tile / tilesAcross) * 4 + threadIdx.y;
        const float z = depth[(size_t)tile * 32 + lane];
        float sum = 0.02f;
#pragma unroll 1
        for (int first = 0; first < MOST; first += 32) {
            const int left = min(count - first, 32);
            if (lane < left)
                near[warp][lane] = lamps[lists[(size_t)tile * MOST + first + lane]];
            meet();
#pragma unroll 2
            for (int k = 0; k < left; ++k) {
                const float4 lamp = near[warp][k];
                const float dx = lamp.x - x, dy = lamp.y - y, dz = lamp.z - z;
                const float square = fmaf(dx, dx, fmaf(dy, dy, fmaf(dz, dz, 1.0f)));
                const float away = rsqrtf(square);
                const float facing = fmaxf(dz * away, 0.0f);
                const float glow = away * away * lamp.w;
                sum = fmaf(glow, fmaf(0.3f * facing, facing * facing, facing), sum);
            }
            meet();
        }
        light[(size_t)tile * 32 + lane] = sum;
    }
}
