// Slopes of a field on square spectral elements of 8 x 8 Gauss-Lobatto-Legendre points, in both directions of the element, and
// from them the squared gradient for the element's two stretches. Four elements a block.

constexpr int P = 8;
constexpr int ELEMENTS = 4;

// Derivatives of the Lagrange polynomials through the points.
struct Derivative {
    float d[P * P];

    __device__ constexpr Derivative() : d{}
    {
        const double x[P] = {-1.0, -0.8717401485096066, -0.5917001814331423, -0.20929921790247886,
                             0.20929921790247886, 0.5917001814331423, 0.8717401485096066, 1.0};
        for (int i = 0; i < P; ++i) {
            double diagonal = 0.0;
            for (int m = 0; m < P; ++m) {
                if (m == i)
                    continue;
                double w = 1.0 / (x[m] - x[i]);
                for (int k = 0; k < P; ++k)
                    if (k != i && k != m)
                        w *= (x[i] - x[k]) / (x[m] - x[k]);
                d[i * P + m] = (float)w;
                diagonal -= w;
            }
            d[i * P + i] = (float)diagonal;
        }
    }
};

#ifdef STAGED
__device__ const Derivative derivative;
#else
__constant__ Derivative derivative;
#endif

// Launch: grid elements / 4, block (8, 8, 4).
extern "C" __global__ void __launch_bounds__(256)
squared_gradient(const float* __restrict__ field, const float2* __restrict__ stretch, float* __restrict__ squared)
{
    __shared__ float u[ELEMENTS][P][P + 1];
    const int i = threadIdx.x, j = threadIdx.y, e = threadIdx.z;
    const size_t element = (size_t)blockIdx.x * ELEMENTS + e;
    const size_t at = (element * P + j) * P + i;

    u[e][j][i] = field[at];
#ifdef STAGED
    __shared__ alignas(16) float d[P][P + 4];
    if (e == 0)
        d[j][i] = derivative.d[j * P + i];
#define D(row, column) d[row][column]
#else
#define D(row, column) derivative.d[(row) * P + (column)]
#endif
    __syncthreads();

    float along_x = 0.0f, along_y = 0.0f;
#pragma unroll
    for (int m = 0; m < P; ++m) {
        along_x = fmaf(D(i, m), u[e][j][m], along_x);
        along_y = fmaf(D(j, m), u[e][m][i], along_y);
    }

    const float2 s = stretch[element];
    along_x *= s.x;
    along_y *= s.y;
    squared[at] = fmaf(along_x, along_x, along_y * along_y);
}
