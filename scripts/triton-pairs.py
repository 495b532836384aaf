"""Pairs of Triton kernels: NAME_bad has a planted fault, NAME_good does the same work without it.

adoprof profile -k '_(bad|good)$' --launch-count 80 -o triton -- python scripts/triton-pairs.py [NAME ...]

Needs PyTorch and Triton. Each pair runs once and prints how far its results are apart; docs/triton.md has what adoprof said.
"""
import sys
import torch, triton, triton.language as tl
from triton.language.extra import libdevice

PAIRS = {}
def pair(planted):
    def put(make):
        PAIRS[make.__name__] = (planted, make)
        return make
    return put

# ---- products
@triton.jit
def product(a, b, c, M, N, K, sa, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, G: tl.constexpr, P: tl.constexpr):
    pid = tl.program_id(0)
    rows, columns = tl.cdiv(M, BM), tl.cdiv(N, BN)
    group = G * columns
    first = (pid // group) * G
    size = tl.minimum(rows - first, G)
    pm = first + (pid % group) % size
    pn = (pid % group) // size
    om = pm * BM + tl.arange(0, BM)
    on = pn * BN + tl.arange(0, BN)
    ok = tl.arange(0, BK)
    pa = a + om[:, None] * sa + ok[None, :]
    pb = b + ok[:, None] * N + on[None, :]
    acc = tl.zeros((BM, BN), tl.float32)
    for k in range(0, tl.cdiv(K, BK)):
        x = tl.load(pa).to(b.dtype.element_ty)
        y = tl.load(pb)
        acc = tl.dot(x, y, acc, input_precision=P)
        pa += BK
        pb += BK * N
    tl.store(c + om[:, None] * N + on[None, :], acc.to(c.dtype.element_ty))

SRC = open(__file__).read()
def copies(kernel, *names):
    """The same kernel under other names, for changes that are in the launch alone."""
    import importlib.util, os, re, tempfile
    body = re.search(r'@triton\.jit\ndef %s\(.*?(?=\n\n|\n@|\Z)' % kernel, SRC, re.S).group(0)
    text = 'import triton, triton.language as tl\n\n' + '\n\n'.join(body.replace('def %s(' % kernel, 'def %s(' % n) for n in names) + '\n'
    path = os.path.join(tempfile.gettempdir(), 'pairs_%s.py' % names[0])
    open(path, 'w').write(text)
    spec = importlib.util.spec_from_file_location('pairs_' + names[0], path)
    module = importlib.util.module_from_spec(spec); spec.loader.exec_module(module)
    return [getattr(module, n) for n in names]

def mm(kernel, a, b, c, M, N, K, sa, BM, BN, BK, G=8, P='tf32', warps=4, stages=3):
    kernel[((M // BM) * (N // BN),)](a, b, c, M, N, K, sa, BM, BN, BK, G, P, num_warps=warps, num_stages=stages)

def half(*shape): return torch.randn(*shape, device='cuda', dtype=torch.float16)
def full(*shape): return torch.randn(*shape, device='cuda')
def empty_like(x): return torch.empty_like(x)

@pair('pipeline-too-shallow')
def stages():
    n = 4096; a, b = half(n, n), half(n, n); c, d = half(n, n), half(n, n)
    bad, good = copies('product', 'stages_bad', 'stages_good')
    return (lambda: mm(bad, a, b, c, n, n, n, n, 128, 128, 64, warps=8, stages=1),
            lambda: mm(good, a, b, d, n, n, n, n, 128, 128, 64, warps=8, stages=4), lambda: (c, d))

@pair('tile-too-small')
def tile():
    n = 4096; a, b = half(n, n), half(n, n); c, d = half(n, n), half(n, n)
    bad, good = copies('product', 'tile_bad', 'tile_good')
    return (lambda: mm(bad, a, b, c, n, n, n, n, 32, 32, 32, warps=4, stages=3),
            lambda: mm(good, a, b, d, n, n, n, n, 128, 128, 64, warps=8, stages=3), lambda: (c, d))

@pair('tensor-cores-unused')
def single():
    n = 2048; a, b = full(n, n), full(n, n); c, d = full(n, n), full(n, n)
    bad, good = copies('product', 'single_bad', 'single_good')
    return (lambda: mm(bad, a, b, c, n, n, n, n, 64, 64, 32, P='ieee', warps=8, stages=2),
            lambda: mm(good, a, b, d, n, n, n, n, 64, 64, 32, P='tf32', warps=4, stages=3), None)

@pair('unaligned-rows')
def rows():
    n = 4096; wide = half(n, n + 1); a = wide[:, :n].contiguous(); b = half(n, n); c, d = half(n, n), half(n, n)
    bad, good = copies('product', 'rows_bad', 'rows_good')
    return (lambda: mm(bad, wide, b, c, n, n, n, n + 1, 128, 128, 32, warps=8),
            lambda: mm(good, a, b, d, n, n, n, n, 128, 128, 32, warps=8), lambda: (c, d))

@pair('operands-converted-in-loop')
def convert():
    n = 4096; a, b = full(n, n), half(n, n); e = a.half(); c, d = half(n, n), half(n, n)
    bad, good = copies('product', 'convert_bad', 'convert_good')
    return (lambda: mm(bad, a, b, c, n, n, n, n, 128, 128, 32, warps=8),
            lambda: mm(good, e, b, d, n, n, n, n, 128, 128, 32, warps=8), lambda: (c, d))

@pair('missing-data-reuse')
def order():
    m, k = 16384, 1024; a, b = half(m, k), half(k, m); c, d = half(m, m), half(m, m)
    bad, good = copies('product', 'order_bad', 'order_good')
    return (lambda: mm(bad, a, b, c, m, m, k, k, 64, 64, 64, G=1, warps=4),
            lambda: mm(good, a, b, d, m, m, k, k, 64, 64, 64, G=16, warps=4), lambda: (c, d))

@pair('register-spilling')
def spill():
    n = 4096; a, b = half(n, n), half(n, n); c, d = half(n, n), half(n, n)
    bad, good = copies('product', 'spill_bad', 'spill_good')
    return (lambda: mm(bad, a, b, c, n, n, n, n, 256, 256, 32, warps=4, stages=2),
            lambda: mm(good, a, b, d, n, n, n, n, 128, 256, 32, warps=8, stages=2), lambda: (c, d))

@triton.jit
def splitk_bad(a, b, c, K, B: tl.constexpr, BK: tl.constexpr):
    o, ok = tl.arange(0, B), tl.arange(0, BK)
    acc = tl.zeros((B, B), tl.float32)
    for k in range(0, K, BK):
        acc = tl.dot(tl.load(a + o[:, None] * K + (k + ok)[None, :]), tl.load(b + (k + ok)[:, None] * B + o[None, :]), acc)
    tl.store(c + o[:, None] * B + o[None, :], acc)

@triton.jit
def splitk_good(a, b, c, K, S: tl.constexpr, B: tl.constexpr, BK: tl.constexpr):
    o, ok = tl.arange(0, B), tl.arange(0, BK)
    part = K // S
    start = tl.program_id(0) * part
    acc = tl.zeros((B, B), tl.float32)
    for k in range(start, start + part, BK):
        acc = tl.dot(tl.load(a + o[:, None] * K + (k + ok)[None, :]), tl.load(b + (k + ok)[:, None] * B + o[None, :]), acc)
    tl.atomic_add(c + o[:, None] * B + o[None, :], acc)

@pair('grid-too-small')
def splitk():
    k = 131072; a, b = half(128, k), half(k, 128); c = torch.zeros(128, 128, device='cuda'); d = torch.zeros_like(c)
    return (lambda: splitk_bad[(1,)](a, b, c, k, 128, 64, num_warps=8),
            lambda: (d.zero_(), splitk_good[(128,)](a, b, d, k, 128, 128, 64, num_warps=8)), lambda: (c, d))

# ---- rows
@triton.jit
def softmax_bad(x, y, N, B: tl.constexpr):
    r = tl.program_id(0).to(tl.int64); c = tl.arange(0, B)
    m = tl.full((B,), float('-inf'), tl.float32)
    for k in range(0, N, B):
        m = tl.maximum(m, tl.load(x + r * N + k + c))
    top = tl.max(m, 0)
    s = tl.zeros((B,), tl.float32)
    for k in range(0, N, B):
        s += tl.exp(tl.load(x + r * N + k + c) - top)
    total = tl.sum(s, 0)
    for k in range(0, N, B):
        tl.store(y + r * N + k + c, tl.exp(tl.load(x + r * N + k + c) - top) / total)

@triton.jit
def softmax_good(x, y, N, B: tl.constexpr):
    r = tl.program_id(0).to(tl.int64); c = tl.arange(0, B)
    m = tl.full((B,), float('-inf'), tl.float32)
    s = tl.zeros((B,), tl.float32)
    for k in range(0, N, B):
        v = tl.load(x + r * N + k + c)
        n = tl.maximum(m, v)
        s = s * tl.exp(m - n) + tl.exp(v - n)
        m = n
    top = tl.max(m, 0)
    total = tl.sum(s * tl.exp(m - top), 0)
    for k in range(0, N, B):
        tl.store(y + r * N + k + c, tl.exp(tl.load(x + r * N + k + c) - top) / total)

@pair('missing-data-reuse')
def softmax():
    x = full(1056, 131072); y, z = empty_like(x), empty_like(x)
    return (lambda: softmax_bad[(1056,)](x, y, 131072, 2048, num_warps=8),
            lambda: softmax_good[(1056,)](x, z, 131072, 2048, num_warps=8), lambda: (y, z))

@triton.jit
def lnorm_bad(x, y, N, B: tl.constexpr):
    r = tl.program_id(0); c = tl.arange(0, B)
    s = tl.zeros((B,), tl.float32); q = tl.zeros((B,), tl.float32)
    for k in range(0, N, B):
        v = tl.load(x + r * N + k + c)
        s += v; q += v * v
    mean = tl.sum(s, 0) / N
    rstd = tl.rsqrt(tl.sum(q, 0) / N - mean * mean + 1e-5)
    for k in range(0, N, B):
        tl.store(y + r * N + k + c, (tl.load(x + r * N + k + c) - mean) * rstd)

@triton.jit
def lnorm_good(x, y, N, B: tl.constexpr):
    r = tl.program_id(0); c = tl.arange(0, B)
    v = tl.load(x + r * N + c)
    mean = tl.sum(v, 0) / N
    d = v - mean
    tl.store(y + r * N + c, d * tl.rsqrt(tl.sum(d * d, 0) / N + 1e-5))

@pair('low-memory-parallelism')
def lnorm():
    x = full(2048, 8192); y, z = empty_like(x), empty_like(x)
    return (lambda: lnorm_bad[(2048,)](x, y, 8192, 32, num_warps=1, num_stages=1),
            lambda: lnorm_good[(2048,)](x, z, 8192, 8192, num_warps=8), lambda: (y, z))

@triton.jit
def fewrows_bad(x, y, R, N, B: tl.constexpr):
    c = tl.arange(0, B)
    for r in range(tl.program_id(0), R, tl.num_programs(0)):
        v = tl.load(x + r * N + c)
        tl.store(y + r * N + c, v / tl.sum(tl.abs(v), 0))

@triton.jit
def fewrows_good(x, y, R, N, B: tl.constexpr):
    r = tl.program_id(0); c = tl.arange(0, B)
    v = tl.load(x + r * N + c)
    tl.store(y + r * N + c, v / tl.sum(tl.abs(v), 0))

@pair('grid-too-small')
def fewrows():
    x = full(8192, 2048); y, z = empty_like(x), empty_like(x)
    return (lambda: fewrows_bad[(16,)](x, y, 8192, 2048, 2048, num_warps=4),
            lambda: fewrows_good[(8192,)](x, z, 8192, 2048, 2048, num_warps=4), lambda: (y, z))

@triton.jit
def mask_bad(x, y, N, B: tl.constexpr):
    r = tl.program_id(0); c = tl.arange(0, B); m = c < N
    v = tl.load(x + r * N + c, mask=m, other=0.0)
    for _ in range(16):
        v = tl.exp(-v * v) + tl.log(1.0 + v * v)
    tl.store(y + r * N + c, v, mask=m)

@triton.jit
def mask_good(x, y, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + i)
    for _ in range(16):
        v = tl.exp(-v * v) + tl.log(1.0 + v * v)
    tl.store(y + i, v)

@pair('idle-threads')
def mask():
    x = full(16384, 1040); y, z = empty_like(x), empty_like(x)
    return (lambda: mask_bad[(16384,)](x, y, 1040, 2048, num_warps=8),
            lambda: mask_good[(16384 * 1040 // 1024,)](x, z, 1024, num_warps=4), lambda: (y, z))

# ---- access
@triton.jit
def colsum_bad(x, y, R, N, B: tl.constexpr):
    c = tl.program_id(0); r = tl.arange(0, B)
    s = tl.zeros((B,), tl.float32)
    for k in range(0, R, B):
        s += tl.load(x + (k + r) * N + c)
    tl.store(y + c, tl.sum(s, 0))

@triton.jit
def colsum_good(x, y, R, N, B: tl.constexpr, C: tl.constexpr):
    c = tl.program_id(0) * C + tl.arange(0, C); r = tl.arange(0, B)
    s = tl.zeros((B, C), tl.float32)
    for k in range(0, R, B):
        s += tl.load(x + (k + r)[:, None] * N + c[None, :])
    tl.store(y + c, tl.sum(s, 0))

@pair('uncoalesced-global-access')
def colsum():
    x = full(4096, 8192); y, z = full(8192), full(8192)
    return (lambda: colsum_bad[(8192,)](x, y, 4096, 8192, 1024, num_warps=4),
            lambda: colsum_good[(8192 // 32,)](x, z, 4096, 8192, 64, 32, num_warps=8), lambda: (y, z))

@triton.jit
def trans_bad(x, y, R, C, B: tl.constexpr):
    r = tl.program_id(0); c = tl.program_id(1) * B + tl.arange(0, B)
    tl.store(y + c * R + r, tl.load(x + r * C + c))

@triton.jit
def trans_good(x, y, R, C, B: tl.constexpr):
    r = tl.program_id(0) * B + tl.arange(0, B); c = tl.program_id(1) * B + tl.arange(0, B)
    v = tl.load(x + r[:, None] * C + c[None, :])
    tl.store(y + c[:, None] * R + r[None, :], tl.trans(v))

@pair('uncoalesced-global-access')
def trans():
    x = full(8192, 8192); y, z = empty_like(x), empty_like(x)
    return (lambda: trans_bad[(8192, 8)](x, y, 8192, 8192, 1024, num_warps=4),
            lambda: trans_good[(128, 128)](x, z, 8192, 8192, 64, num_warps=4), lambda: (y, z))

@triton.jit
def aos_bad(x, y, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    a = tl.load(x + i * 16 + 0); b = tl.load(x + i * 16 + 5); c = tl.load(x + i * 16 + 10)
    tl.store(y + i, tl.sqrt(a * a + b * b + c * c))

@triton.jit
def aos_good(x, y, N, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    a = tl.load(x + i); b = tl.load(x + N + i); c = tl.load(x + 2 * N + i)
    tl.store(y + i, tl.sqrt(a * a + b * b + c * c))

@pair('uncoalesced-global-access')
def aos():
    n = 1 << 23; x = full(n, 16); s = torch.stack([x[:, 0], x[:, 5], x[:, 10]]).contiguous(); y, z = full(n), full(n)
    return (lambda: aos_bad[(n // 1024,)](x, y, 1024), lambda: aos_good[(n // 1024,)](s, z, n, 1024), lambda: (y, z))

@triton.jit
def tiny_bad(x, y, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(y + i, tl.load(x + i) * 2.0)

@triton.jit
def tiny_good(x, y, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(y + i, tl.load(x + i) * 2.0)

@pair('occupancy-limited-by-block-size')
def tiny():
    n = 1 << 26; x = full(n); y, z = empty_like(x), empty_like(x)
    return (lambda: tiny_bad[(n // 32,)](x, y, 32, num_warps=1), lambda: tiny_good[(n // 1024,)](x, z, 1024, num_warps=4), lambda: (y, z))

@triton.jit
def unaligned_bad(x, y, z, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(z + i, tl.load(x + i) + tl.load(y + i))

@triton.jit
def unaligned_good(x, y, z, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(z + i, tl.load(x + i) + tl.load(y + i))

@pair('narrow-global-access')
def unaligned():
    n = 1 << 27; x = torch.randint(0, 50, (n + 1,), device='cuda', dtype=torch.int8); y = torch.randint(0, 50, (n + 1,), device='cuda', dtype=torch.int8)
    z, w = torch.empty(n + 1, device='cuda', dtype=torch.int8), torch.empty(n, device='cuda', dtype=torch.int8)
    return (lambda: unaligned_bad[(n // 4096,)](x[1:], y[1:], z[1:], 4096), lambda: unaligned_good[(n // 4096,)](x[:n], y[:n], w, 4096), None)

# ---- atomics
@triton.jit
def atom_bad(x, out, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.atomic_add(out + (i & 0), tl.load(x + i))

@triton.jit
def atom_good(x, out, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.atomic_add(out, tl.sum(tl.load(x + i), 0))

@pair('global-atomic-contention')
def atom():
    n = 1 << 20; x = torch.rand(n, device='cuda'); y, z = torch.zeros(1, device='cuda'), torch.zeros(1, device='cuda')
    return (lambda: (y.zero_(), atom_bad[(n // 1024,)](x, y, 1024)), lambda: (z.zero_(), atom_good[(n // 1024,)](x, z, 1024)), lambda: (y, z))

@triton.jit
def hist_bad(x, out, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.atomic_add(out + tl.load(x + i), 1)

@triton.jit
def hist_good(x, out, B: tl.constexpr, K: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.atomic_add(out + tl.arange(0, K), tl.histogram(tl.load(x + i), K))

@pair('global-atomic-contention')
def hist():
    n = 1 << 24; x = (torch.rand(n, device='cuda') ** 4 * 256).int(); y, z = torch.zeros(256, device='cuda', dtype=torch.int32), torch.zeros(256, device='cuda', dtype=torch.int32)
    return (lambda: (y.zero_(), hist_bad[(n // 1024,)](x, y, 1024)), lambda: (z.zero_(), hist_good[(n // 4096,)](x, z, 4096, 256, num_warps=8)), lambda: (y, z))

# ---- arithmetic
@triton.jit
def dbl_bad(x, y, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + i).to(tl.float64)
    for _ in range(8):
        v = v * 0.5 + 1.0 / (1.0 + v * v)
    tl.store(y + i, v.to(tl.float32))

@triton.jit
def dbl_good(x, y, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + i)
    for _ in range(8):
        v = v * 0.5 + 1.0 / (1.0 + v * v)
    tl.store(y + i, v)

@pair('unexpected-fp64')
def dbl():
    n = 1 << 24; x = full(n); y, z = empty_like(x), empty_like(x)
    return (lambda: dbl_bad[(n // 1024,)](x, y, 1024), lambda: dbl_good[(n // 1024,)](x, z, 1024), lambda: (y, z))

@triton.jit
def divide_bad(x, y, W, H, C, B: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * B + tl.arange(0, B)
    w = i % W; h = (i // W) % H; c = (i // (W * H)) % C; n = i // (W * H * C)
    tl.store(y + i, tl.load(x + ((n * C + c) * H + (H - 1 - h)) * W + w))

@triton.jit
def divide_good(x, y, W: tl.constexpr, H: tl.constexpr, C: tl.constexpr, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    w = i % W; h = (i // W) % H; c = (i // (W * H)) % C; n = i // (W * H * C)
    tl.store(y + i, tl.load(x + ((n * C + c) * H + (H - 1 - h)) * W + w))

@pair('slow-math-functions|integer-arithmetic-bound')
def divide():
    x = full(32, 48, 112, 112); n = x.numel(); y, z = empty_like(x), empty_like(x)
    return (lambda: divide_bad[(n // 1024,)](x, y, 112, 112, 48, 1024), lambda: divide_good[(n // 1024,)](x, z, 112, 112, 48, 1024), lambda: (y, z))

@triton.jit
def power_bad(x, y, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + i)
    tl.store(y + i, libdevice.pow(v, 3.0) + libdevice.pow(v, 2.0) + libdevice.pow(v, 0.5))

@triton.jit
def power_good(x, y, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + i)
    tl.store(y + i, v * v * v + v * v + tl.sqrt(v))

@pair('slow-math-functions')
def power():
    n = 1 << 25; x = torch.rand(n, device='cuda') + 0.1; y, z = empty_like(x), empty_like(x)
    return (lambda: power_bad[(n // 1024,)](x, y, 1024), lambda: power_good[(n // 1024,)](x, z, 1024), lambda: (y, z))

# ---- attention
@triton.jit
def attend(q, k, v, o, T, scale, BM: tl.constexpr, BN: tl.constexpr, D: tl.constexpr):
    h = tl.program_id(1).to(tl.int64) * T * D
    m = tl.program_id(0) * BM + tl.arange(0, BM); n = tl.arange(0, BN); d = tl.arange(0, D)
    x = tl.load(q + h + m[:, None] * D + d[None, :])
    top = tl.full((BM,), float('-inf'), tl.float32); total = tl.zeros((BM,), tl.float32); acc = tl.zeros((BM, D), tl.float32)
    for j in range(0, T, BN):
        y = tl.load(k + h + (j + n)[None, :] * D + d[:, None])
        s = tl.dot(x, y) * scale
        new = tl.maximum(top, tl.max(s, 1))
        p = tl.exp2(s - new[:, None]); f = tl.exp2(top - new)
        total = total * f + tl.sum(p, 1); acc = acc * f[:, None]
        acc = tl.dot(p.to(tl.float16), tl.load(v + h + (j + n)[:, None] * D + d[None, :]), acc)
        top = new
    tl.store(o + h + m[:, None] * D + d[None, :], (acc / total[:, None]).to(tl.float16))

@pair('tile-too-small')
def attention():
    t, d, h = 2048, 64, 64; q, k, v = half(h, t, d), half(h, t, d), half(h, t, d); o, p = half(h, t, d), half(h, t, d)
    bad, good = copies('attend', 'attention_bad', 'attention_good')
    s = 0.18
    return (lambda: bad[(t // 16, h)](q, k, v, o, t, s, 16, 16, d, num_warps=1, num_stages=2),
            lambda: good[(t // 128, h)](q, k, v, p, t, s, 128, 64, d, num_warps=4, num_stages=3), lambda: (o, p))

@pair('pipeline-too-shallow')
def unpiped():
    t, d, h = 2048, 64, 64; q, k, v = half(h, t, d), half(h, t, d), half(h, t, d); o, p = half(h, t, d), half(h, t, d)
    bad, good = copies('attend', 'unpiped_bad', 'unpiped_good')
    s = 0.18
    return (lambda: bad[(t // 128, h)](q, k, v, o, t, s, 128, 64, d, num_warps=4, num_stages=1),
            lambda: good[(t // 128, h)](q, k, v, p, t, s, 128, 64, d, num_warps=4, num_stages=3), lambda: (o, p))

@triton.jit
def small_bad(x, y, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(y + i, tl.load(x + i) + 1.0)

@triton.jit
def small_good(x, y, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(y + i, tl.load(x + i) + 1.0)

@pair('launch-overhead-bound')
def small():
    x = full(8, 8192); y, z = empty_like(x), empty_like(x)
    def bad():
        for r in range(8): small_bad[(8,)](x[r], y[r], 1024)
    return (bad, lambda: small_good[(64,)](x, z, 1024), lambda: (y, z))

if __name__ == '__main__':
    wanted = sys.argv[1:] or list(PAIRS)
    failed = []
    for name in wanted:
        planted, make = PAIRS[name]
        try:
            bad, good, outputs = make()
            bad(); good()
            torch.cuda.synchronize()
            line = f'{name:12} {planted}'
            if outputs:
                a, b = outputs(); a, b = a.float(), b.float()
                line += f'  largest difference {(a - b).abs().max().item():.3g} of {b.abs().max().item():.3g}'
            print(line, flush=True)
            del bad, good, outputs; torch.cuda.empty_cache()
        except Exception as error:
            failed.append(name); print(name, 'FAILED', type(error).__name__, str(error)[:300], flush=True)
    print('failed:', failed)
