// A formula over the columns of a table, interpreted: the tokens stand in postfix order, and each row has a stack of operands for
// them. All rows of a table are worked on at the same token.

enum Token : unsigned char { ADD = 64, SUBTRACT, MULTIPLY, LARGER, SMALLER, MEAN };

constexpr int THREADS = 128, DEPTH = 16;

// Numbers below 64 are columns.
static __constant__ unsigned char formula[] = {
    0,  1,  MULTIPLY, 2,  3,  MULTIPLY, ADD,      4,  5,  SUBTRACT, LARGER,   6,  7,  8,  9,  MEAN,     SMALLER,  MULTIPLY,
    ADD, 10, 11, ADD, 12, 13, SUBTRACT, MULTIPLY, 14, 15, MULTIPLY, SMALLER,  SUBTRACT, 0,  6,  12, ADD, ADD, 3,  9,
    MEAN, LARGER, 15, 1,  2,  5,  7, ADD, MULTIPLY, SUBTRACT, MEAN, ADD, MULTIPLY, 4, 8, LARGER, 10, 14, SMALLER, 11, MULTIPLY,
    ADD, ADD, 13, SUBTRACT,
};

#ifdef ROW_BY_ROW
#define OPERAND(level) stack[threadIdx.x * DEPTH + (level)]
#else
#define OPERAND(level) stack[(level) * THREADS + threadIdx.x]
#endif

// Launch: a thread a row, block 128. Columns lie one after the other.
extern "C" __global__ void __launch_bounds__(THREADS)
evaluate(const float* __restrict__ table, float* __restrict__ result, int rows)
{
    __shared__ float stack[DEPTH * THREADS];
    const int row = blockIdx.x * THREADS + threadIdx.x;
    if (row >= rows)
        return;
    int used = 0;
#pragma unroll 1
    for (int t = 0; t < (int)sizeof(formula); ++t) {
        const unsigned token = formula[t];
        if (token < 64) {
            OPERAND(used) = table[(size_t)token * rows + row];
            ++used;
            continue;
        }
        --used;
        const float b = OPERAND(used), a = OPERAND(used - 1);
        float c;
        switch (token) {
        case ADD: c = a + b; break;
        case SUBTRACT: c = a - b; break;
        case MULTIPLY: c = a * b; break;
        case LARGER: c = fmaxf(a, b); break;
        case SMALLER: c = fminf(a, b); break;
        default: c = 0.5f * (a + b); break;
        }
        OPERAND(used - 1) = c;
    }
    result[row] = OPERAND(used - 1);
}
