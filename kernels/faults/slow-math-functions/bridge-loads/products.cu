// A cube is two products.
__device__ double cube(double x) { return x * x * x; }

// The deflection at each case's sensor, in units of the beam's length and stiffness, by Macaulay's brackets.
extern "C" __global__ void bend(const double* __restrict__ sensors, const double* __restrict__ places,
    double* __restrict__ deflections, int loads)
{
    const int id = blockIdx.x * blockDim.x + threadIdx.x;
    const double x = sensors[id];
    double sum = 0;
    for (int load = 0; load < loads; ++load) {
        const double behind = 1.0 - places[load], past = fmax(x - places[load], 0.0);
        sum += behind * cube(x) - cube(past) - (behind - cube(behind)) * x;
    }
    deflections[id] = sum / 6.0;
}
