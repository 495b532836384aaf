// Survey points of four national datums, projected to their grids for an overview map: a transverse Mercator projection by three
// terms of Krueger's series, with the constants of each datum's ellipsoid and meridian.

struct Datum {
    float meridian;         // radians
    float c1, c2, c3;       // from geodetic to conformal latitude
    float a1, a2, a3;       // from the sphere to the ellipsoid
    float radius;           // m, scaled
    float east;             // m
};

__device__ __forceinline__ float arc_tangent(float y, float x)
{
    const float smaller = fminf(fabsf(x), fabsf(y)), larger = fmaxf(fabsf(x), fabsf(y));
    const float q = __fdividef(smaller, larger), s = q * q;
    float r = fmaf(fmaf(fmaf(fmaf(-0.0117212f, s, 0.0526533f), s, -0.1164329f), s, 0.1935435f), s, -0.3326235f);
    r = fmaf(r, s, 0.9999772f) * q;
    r = fabsf(y) > fabsf(x) ? 1.5707963f - r : r;
    r = x < 0.0f ? 3.1415927f - r : r;
    return y < 0.0f ? -r : r;
}

__device__ __forceinline__ float2 project(float latitude, float longitude, const Datum& d)
{
    const float lambda = longitude - d.meridian;
    const float sin2 = __sinf(2.0f * latitude), cos2 = __cosf(2.0f * latitude);
    const float chi = latitude + sin2 * fmaf(cos2, fmaf(4.0f * d.c3, cos2, 2.0f * d.c2), d.c1 - d.c3);

    const float sin_chi = __sinf(chi), cos_chi = __cosf(chi);
    const float xi = arc_tangent(sin_chi, cos_chi * __cosf(lambda));
    const float w = cos_chi * __sinf(lambda);
    const float eta = 0.5f * __logf(__fdividef(1.0f + w, 1.0f - w));

    const float s = __sinf(2.0f * xi), c = __cosf(2.0f * xi);
    const float grown = __expf(2.0f * eta), shrunk = __fdividef(1.0f, grown);
    const float ch = 0.5f * (grown + shrunk), sh = 0.5f * (grown - shrunk);
    const float s2 = 2.0f * s * c, c2 = fmaf(2.0f * c, c, -1.0f);
    const float ch2 = fmaf(2.0f * ch, ch, -1.0f), sh2 = 2.0f * sh * ch;
    const float s3 = fmaf(s2, c, c2 * s), c3 = fmaf(c2, c, -s2 * s);
    const float ch3 = fmaf(ch2, ch, sh2 * sh), sh3 = fmaf(sh2, ch, ch2 * sh);

    const float north = fmaf(d.a3, s3 * ch3, fmaf(d.a2, s2 * ch2, fmaf(d.a1, s * ch, xi)));
    const float east = fmaf(d.a3, c3 * sh3, fmaf(d.a2, c2 * sh2, fmaf(d.a1, c * sh, eta)));
    return make_float2(fmaf(d.radius, east, d.east), d.radius * north);
}

#define AIRY     {-0.034906585f, -3.3341e-3f, 4.632e-6f, -8.1e-9f, 8.3522e-4f, 7.5632e-7f, 1.1852e-9f, 6364.902e3f, 4000e3f}
#define BESSEL   {0.15707963f, -3.3362e-3f, 4.638e-6f, -8.1e-9f, 8.3523e-4f, 7.5667e-7f, 1.1861e-9f, 6366.743e3f, 5000e3f}
#define CLARKE   {0.040823935f, -3.3955e-3f, 4.804e-6f, -8.5e-9f, 8.5023e-4f, 7.8412e-7f, 1.2512e-9f, 6367.387e3f, 6000e3f}
#define KRASOVSKI {0.36651914f, -3.3462e-3f, 4.666e-6f, -8.2e-9f, 8.3771e-4f, 7.6111e-7f, 1.1971e-9f, 6367.558e3f, 7000e3f}

#ifdef EACH_ITS_OWN
__device__ __forceinline__ float2 project_by(unsigned code, float latitude, float longitude)
{
    switch (code) {
    case 0: {
        const Datum airy = AIRY;
        return project(latitude, longitude, airy);
    }
    case 1: {
        const Datum bessel = BESSEL;
        return project(latitude, longitude, bessel);
    }
    case 2: {
        const Datum clarke = CLARKE;
        return project(latitude, longitude, clarke);
    }
    default: {
        const Datum krasovski = KRASOVSKI;
        return project(latitude, longitude, krasovski);
    }
    }
}
#else
__device__ __forceinline__ float2 project_by(unsigned code, float latitude, float longitude)
{
    const Datum airy = AIRY, bessel = BESSEL, clarke = CLARKE, krasovski = KRASOVSKI;
    Datum own = krasovski;
#define PICK(member) own.member = code == 0 ? airy.member : code == 1 ? bessel.member : code == 2 ? clarke.member : own.member
    PICK(meridian);
    PICK(c1);
    PICK(c2);
    PICK(c3);
    PICK(a1);
    PICK(a2);
    PICK(a3);
    PICK(radius);
    PICK(east);
    return project(latitude, longitude, own);
}
#endif

// Launch: any grid, block 160.
extern "C" __global__ void __launch_bounds__(160)
to_grid(const float2* __restrict__ geodetic, const unsigned char* __restrict__ codes, float2* __restrict__ grid, int points)
{
    for (int i = blockIdx.x * 160 + threadIdx.x; i < points; i += gridDim.x * 160) {
        const float2 at = geodetic[i];
        grid[i] = project_by(codes[i], at.x, at.y);
    }
}
