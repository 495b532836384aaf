// A step of charged particles in electric and magnetic fields, which have been put at the particles already: Boris' rotation of the
// velocity between two half kicks, in a plane with a magnetic field across it. The fourth component of a velocity is the ratio of
// charge and mass, that of the result the energy halfway.

// Launch: a thread a particle, block 256.
extern "C" __global__ void __launch_bounds__(256)
push(const float2* __restrict__ place, const float4* __restrict__ velocity, const float4* __restrict__ field,
     float2* __restrict__ new_place, float4* __restrict__ new_velocity, int particles, float dt, float box)
{
    const int i = blockIdx.x * 256 + threadIdx.x;
    if (i >= particles)
        return;
    const float4 v = __ldcs(velocity + i), f = __ldcs(field + i);
    float2 p = __ldcs(place + i);

    const float half = 0.5f * dt * v.w;
    const float kx = fmaf(half, f.x, v.x), ky = fmaf(half, f.y, v.y), kz = fmaf(half, f.z, v.z);
    const float t = half * f.w, s = __fdividef(2.0f * t, fmaf(t, t, 1.0f));
    const float tx = fmaf(t, ky, kx), ty = fmaf(-t, kx, ky);
    const float rx = fmaf(s, ty, kx), ry = fmaf(-s, tx, ky);
    float4 w;
    w.x = fmaf(half, f.x, rx);
    w.y = fmaf(half, f.y, ry);
    w.z = fmaf(half, f.z, kz);
    w.w = 0.5f * fmaf(kx, kx, fmaf(ky, ky, kz * kz));

    p.x = fmaf(dt, w.x, p.x);
    p.y = fmaf(dt, w.y, p.y);
    p.x = p.x < 0.0f ? p.x + box : p.x >= box ? p.x - box : p.x;
    p.y = p.y < 0.0f ? p.y + box : p.y >= box ? p.y - box : p.y;
    __stcs(new_place + i, p);
    __stcs(new_velocity + i, w);
}
