// Erosion of a computed-tomography scan with 8-bit densities: every voxel becomes the smallest of itself and its six neighbours, and
// what lies below the threshold becomes air. The outermost voxels are air in any case.

constexpr int NX = 640, NY = 512;  // the scanner's
constexpr int ROW = NX, SLICE = NX * NY;

// Launch: 3D grid and 3D block of any shape, 256 threads, that cover the scan of `nz` slices.
extern "C" __global__ void __launch_bounds__(256)
erode(const unsigned char* __restrict__ scan, unsigned char* __restrict__ eroded, int nz, int threshold)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    const int y = blockIdx.y * blockDim.y + threadIdx.y;
    const int z = blockIdx.z * blockDim.z + threadIdx.z;
    if (x >= NX || y >= NY || z >= nz)
        return;
    const int i = z * SLICE + y * ROW + x;
    int least = 0;
    if (x > 0 && x < NX - 1 && y > 0 && y < NY - 1 && z > 0 && z < nz - 1) {
        const unsigned char* here = scan + i;
        least = min(min(here[0], here[-1]), here[1]);
        least = min(min(least, here[-ROW]), here[ROW]);
        least = min(min(least, here[-SLICE]), here[SLICE]);
    }
    eroded[i] = least < threshold ? 0 : least;
}
