// Counts how often each byte occurs among N bytes, and prints a checksum of the counts.
//
//   histogram N       -DSHARED counts in shared memory first

#include <cstdio>
#include <cstdlib>
#include <vector>

static void check(cudaError_t error)
{
    if (error != cudaSuccess) {
        std::fprintf(stderr, "CUDA: %s\n", cudaGetErrorString(error));
        std::exit(1);
    }
}

#ifdef SHARED
// A block counts in its own memory and adds its counts to the others' once.
__global__ void histogram(const unsigned char* values, unsigned* counts, size_t n)
{
    __shared__ unsigned own[256];
    for (unsigned i = threadIdx.x; i < 256; i += blockDim.x)
        own[i] = 0;
    __syncthreads();
    const size_t stride = size_t(gridDim.x) * blockDim.x;
    for (size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += stride)
        atomicAdd(&own[values[i]], 1);
    __syncthreads();
    for (unsigned i = threadIdx.x; i < 256; i += blockDim.x)
        atomicAdd(&counts[i], own[i]);
}
#else
// Every value is an atomic addition to one of 256 addresses in global memory.
__global__ void histogram(const unsigned char* values, unsigned* counts, size_t n)
{
    const size_t stride = size_t(gridDim.x) * blockDim.x;
    for (size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += stride)
        atomicAdd(&counts[values[i]], 1);
}
#endif

int main(int argc, char** argv)
{
    const size_t n = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 1 << 24;
    std::vector<unsigned char> values(n);
    unsigned state = 1;
    for (auto& value : values) {
        state = state * 1664525u + 1013904223u;
        value = static_cast<unsigned char>(state >> 24);
    }
    unsigned char* device_values;
    unsigned* device_counts;
    check(cudaMalloc(&device_values, n));
    check(cudaMalloc(&device_counts, 256 * sizeof(unsigned)));
    check(cudaMemcpy(device_values, values.data(), n, cudaMemcpyHostToDevice));
    check(cudaMemset(device_counts, 0, 256 * sizeof(unsigned)));
    histogram<<<1024, 256>>>(device_values, device_counts, n);
    check(cudaGetLastError());
    std::vector<unsigned> counts(256);
    check(cudaMemcpy(counts.data(), device_counts, 256 * sizeof(unsigned), cudaMemcpyDeviceToHost));
    std::FILE* file = std::fopen("counts.txt", "w");
    if (!file)
        return 1;
    for (unsigned count : counts)
        std::fprintf(file, "%u\n", count);
    return std::fclose(file) == 0 ? 0 : 1;
}
