"""Smooths N floats: each becomes the mean of its neighbours within RADIUS. Prints the time of the kernel and whether
the answer is right.

    smooth.py {plain|tiled} N

Needs the packages numba-cuda and numpy. A kernel in Python is compiled when it is first launched.
"""

import sys
import time

RADIUS = 16
THREADS = 256
REPETITIONS = 10


def main():
    try:
        import numpy
        from numba import cuda, float32
    except ImportError as error:
        sys.exit(f"{error}: pip install numba-cuda numpy")

    @cuda.jit(lineinfo=True)
    def plain(values, smoothed):
        i = cuda.grid(1)
        if i < smoothed.size:
            total = float32(0)
            for j in range(2 * RADIUS + 1):
                total += values[i + j]
            smoothed[i] = total / float32(2 * RADIUS + 1)

    @cuda.jit(lineinfo=True)
    def tiled(values, smoothed):
        tile = cuda.shared.array(THREADS + 2 * RADIUS, float32)
        i = cuda.grid(1)
        lane = cuda.threadIdx.x
        if i < values.size:
            tile[lane] = values[i]
        if lane < 2 * RADIUS and i + THREADS < values.size:
            tile[lane + THREADS] = values[i + THREADS]
        cuda.syncthreads()
        if i < smoothed.size:
            total = float32(0)
            for j in range(2 * RADIUS + 1):
                total += tile[lane + j]
            smoothed[i] = total / float32(2 * RADIUS + 1)

    kernel = {"plain": plain, "tiled": tiled}[sys.argv[1]]
    n = int(sys.argv[2])
    values = numpy.random.default_rng(1).random(n + 2 * RADIUS, dtype=numpy.float32)
    on_device = cuda.to_device(values)
    smoothed = cuda.device_array(n, dtype=numpy.float32)
    blocks = (n + THREADS - 1) // THREADS
    kernel[blocks, THREADS](on_device, smoothed)
    cuda.synchronize()
    for _ in range(REPETITIONS):
        start = time.perf_counter()
        kernel[blocks, THREADS](on_device, smoothed)
        cuda.synchronize()
        print(f"kernel took {1e3 * (time.perf_counter() - start):.4f} ms")
    sums = numpy.cumsum(numpy.concatenate([[0.0], values.astype(numpy.float64)]))
    expected = (sums[2 * RADIUS + 1 :] - sums[:n]) / (2 * RADIUS + 1)
    error = float(numpy.abs(smoothed.copy_to_host() - expected).max())
    print(f"{'PASS' if error < 1e-5 else 'FAIL'}: the largest error is {error:.1e}")


main()
