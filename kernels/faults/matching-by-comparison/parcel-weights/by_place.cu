// Weights of parcels per route and depot: each parcel's weight is added at its route's place, in shared memory.

// Launch: grid (depots), block 512.
extern "C" __global__ void add_weights(const unsigned* __restrict__ routes, const float* __restrict__ weights, float* __restrict__ loads,
                                       int parcels, int all_routes)
{
    __shared__ float load[1024];
    for (int route = threadIdx.x; route < all_routes; route += blockDim.x)
        load[route] = 0.0f;
    __syncthreads();
    const size_t first = (size_t)blockIdx.x * parcels;
    for (int i = threadIdx.x; i < parcels; i += blockDim.x)
        atomicAdd(&load[routes[first + i]], weights[first + i]);
    __syncthreads();
    for (int route = threadIdx.x; route < all_routes; route += blockDim.x)
        loads[(size_t)blockIdx.x * all_routes + route] = load[route];
}
