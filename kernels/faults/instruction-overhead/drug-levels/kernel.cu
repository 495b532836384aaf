// How much of a drug is in the blood after many hourly doses: an hour is one multiply-add. HOURS is how many hours a
// turn of the loop has: with one, the counter, its comparison and the jump outnumber the useful instruction.

#ifndef HOURS
#define HOURS 1
#endif

// Launch: grid patients / 512, block 512. hours is a multiple of HOURS.
extern "C" __global__ void __launch_bounds__(512)
accumulate_doses(const float2* __restrict__ patients, float* __restrict__ levels, int hours)
{
    const unsigned i = blockIdx.x * 512 + threadIdx.x;
    const float2 patient = patients[i];  // what is left after an hour, and the dose
    float level = 0.0f;
#pragma unroll 1
    for (int hour = 0; hour < hours; hour += HOURS) {
#pragma unroll
        for (int k = 0; k < HOURS; ++k)
            level = level * patient.x + patient.y;
    }
    levels[i] = level;
}
