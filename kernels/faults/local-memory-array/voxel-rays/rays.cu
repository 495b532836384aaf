// How much solid matter do parallel rays pass? A scan of SIDE^3 voxels, one bit each, is crossed voxel by voxel: of the three next
// walls the nearest is where the ray goes on. A ray for each pixel of a detector, which looks on the volume from a corner.

constexpr int SIDE = 64;

struct Ray {
    float start[3], slope[3];
};

// The ray of a pixel: from the plane z = 0, with a tilt that depends on the position.
__device__ Ray aim(int px, int py, int width, int height, float tilt)
{
    const float u = (px + 0.5f) / width, v = (py + 0.5f) / height;
    return Ray{{u * SIDE, v * SIDE, 0.0f},
               {tilt * (0.5f - u) + 0.011f, tilt * (0.5f - v) + 0.013f, 1.0f}};
}

__device__ __forceinline__ bool solid(const unsigned* __restrict__ bits, int x, int y, int z)
{
    return bits[(z * SIDE + y) * (SIDE / 32) + (x >> 5)] >> (x & 31) & 1;
}

// Launch: 2D grid over the detector, block (32, 4).
extern "C" __global__ void __launch_bounds__(128)
thickness(const unsigned* __restrict__ bits, float* __restrict__ depth, int width, int height, float tilt)
{
    const int px = blockIdx.x * 32 + threadIdx.x, py = blockIdx.y * 4 + threadIdx.y;
    if (px >= width || py >= height)
        return;
    const Ray ray = aim(px, py, width, height, tilt);
    float through = 0.0f, now = 0.0f;

#ifdef BY_AXIS
    int cell[3], step[3];
    float wall[3], width_of[3];
#pragma unroll
    for (int a = 0; a < 3; ++a) {
        cell[a] = min((int)ray.start[a], SIDE - 1);
        step[a] = ray.slope[a] < 0.0f ? -1 : 1;
        width_of[a] = fabsf(__fdividef(1.0f, ray.slope[a]));
        const float to_wall = ray.slope[a] < 0.0f ? ray.start[a] - cell[a] : cell[a] + 1 - ray.start[a];
        wall[a] = to_wall * width_of[a];
    }
    for (;;) {
        int axis = wall[0] < wall[1] ? 0 : 1;
        if (wall[2] < wall[axis])
            axis = 2;
        const float next = wall[axis];
        if (solid(bits, cell[0], cell[1], cell[2]))
            through += next - now;
        now = next;
        wall[axis] += width_of[axis];
        cell[axis] += step[axis];
        if ((unsigned)cell[axis] >= SIDE)
            break;
    }
#else
    const int x0 = min((int)ray.start[0], SIDE - 1), y0 = min((int)ray.start[1], SIDE - 1);
    int x = x0, y = y0, z = 0;
    const int step_x = ray.slope[0] < 0.0f ? -1 : 1, step_y = ray.slope[1] < 0.0f ? -1 : 1;
    const float width_x = fabsf(__fdividef(1.0f, ray.slope[0])), width_y = fabsf(__fdividef(1.0f, ray.slope[1])),
                width_z = fabsf(__fdividef(1.0f, ray.slope[2]));
    float wall_x = (ray.slope[0] < 0.0f ? ray.start[0] - x0 : x0 + 1 - ray.start[0]) * width_x;
    float wall_y = (ray.slope[1] < 0.0f ? ray.start[1] - y0 : y0 + 1 - ray.start[1]) * width_y;
    float wall_z = (1 - ray.start[2]) * width_z;
    for (;;) {
        const bool by_x = wall_x < wall_y;
        const float nearer = by_x ? wall_x : wall_y;
        const bool by_z = wall_z < nearer;
        const float next = by_z ? wall_z : nearer;
        if (solid(bits, x, y, z))
            through += next - now;
        now = next;
        wall_x += by_x && !by_z ? width_x : 0.0f;
        x += by_x && !by_z ? step_x : 0;
        wall_y += by_x || by_z ? 0.0f : width_y;
        y += by_x || by_z ? 0 : step_y;
        wall_z += by_z ? width_z : 0.0f;
        z += by_z;
        if ((unsigned)x >= SIDE || (unsigned)y >= SIDE || (unsigned)z >= SIDE)
            break;
    }
#endif
    depth[(size_t)py * width + px] = through;
}
