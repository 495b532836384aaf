// Weights of parcels per route and depot: a thread per route holds each parcel of its depot against its own number.

// Launch: grid (routes / 256, depots), block 256.
extern "C" __global__ void add_weights(const unsigned* __restrict__ routes, const float* __restrict__ weights, float* __restrict__ loads,
                                       int parcels, int all_routes)
{
    const unsigned route = blockIdx.x * blockDim.x + threadIdx.x;
    const size_t depot = blockIdx.y;
    float load = 0.0f;
    for (int i = 0; i < parcels; i++)
        if (routes[depot * parcels + i] == route) load += weights[depot * parcels + i];
    loads[depot * all_routes + route] = load;
}
