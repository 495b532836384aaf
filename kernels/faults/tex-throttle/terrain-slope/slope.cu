// Slope and curvature by central differences over 3 by 3 cells, a cell a thread.

#ifdef TEXTURE
using Map = cudaTextureObject_t;
__device__ float height(Map map, int cell) { return tex1Dfetch<float>(map, cell); }
#else
using Map = const float* __restrict__;
__device__ float height(Map map, int cell) { return map[cell]; }
#endif

extern "C" __global__ void __launch_bounds__(256)
slope_of(Map map, float* __restrict__ slope, float* __restrict__ curvature, int n)
{
    const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
    const int row = n + 2, cell = (y + 1) * row + x + 1;
    const float nw = height(map, cell - row - 1), north = height(map, cell - row), ne = height(map, cell - row + 1);
    const float west = height(map, cell - 1), here = height(map, cell), east = height(map, cell + 1);
    const float sw = height(map, cell + row - 1), south = height(map, cell + row), se = height(map, cell + row + 1);
    const float dx = (ne + 2.0f * east + se - nw - 2.0f * west - sw) * 0.125f;
    const float dy = (sw + 2.0f * south + se - nw - 2.0f * north - ne) * 0.125f;
    slope[y * n + x] = __fsqrt_rn(dx * dx + dy * dy);
    curvature[y * n + x] = (north + south + east + west) - 4.0f * here;
}
