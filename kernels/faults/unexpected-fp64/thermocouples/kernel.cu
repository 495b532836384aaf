// Temperatures of thermocouples (type T) from their voltages: five Newton steps on the standard's polynomial.
// LITERAL makes the polynomial's literals doubles, as forgotten suffixes do: each of its terms is converted to double,
// added there, and converted back.

#ifdef LITERAL
#define C(number) number
#else
#define C(number) number##f
#endif

// Launch: grid readings / 256, block 256.
extern "C" __global__ void __launch_bounds__(256)
linearise(const float* __restrict__ millivolts, float* __restrict__ celsius)
{
    const unsigned i = blockIdx.x * 256 + threadIdx.x;
    const float voltage = millivolts[i];
    float t = 20.0f * voltage;
#pragma unroll 1
    for (int step = 0; step < 5; ++step) {
        float e = C(-2.7513e-20);
        e = e * t + C(4.5479e-17);
        e = e * t + C(-3.0816e-14);
        e = e * t + C(1.0997e-11);
        e = e * t + C(-2.1882e-9);
        e = e * t + C(2.0618e-7);
        e = e * t + C(3.3292e-5);
        e = e * t + C(3.8748e-2);
        float slope = -2.2010e-19f;
        slope = slope * t + 3.1835e-16f;
        slope = slope * t - 1.8490e-13f;
        slope = slope * t + 5.4985e-11f;
        slope = slope * t - 8.7528e-9f;
        slope = slope * t + 6.1854e-7f;
        slope = slope * t + 6.6584e-5f;
        slope = slope * t + 3.8748e-2f;
        t -= __fdividef(e * t - voltage, slope);
    }
    celsius[i] = t;
}
