#!/usr/bin/env python3
"""PyTorch as a peer, on CPUs and GPUs: see protocol.py.

Forms are eager, compiled, and on a GPU both of them captured in a CUDA graph.
"""

import sys

import protocol
from protocol import np, sides

try:
    import torch
except ImportError as why:
    protocol.absent("PyTorch", why)

REQUESTS = sys.stdin.readlines()
IS_GPU = any('"on":"gpu"' in line for line in REQUESTS)
if IS_GPU and not torch.cuda.is_available():
    protocol.absent("PyTorch", "it has no CUDA device")
DEVICE = "cuda" if IS_GPU else "cpu"
TOP = -(1 << 31)


def on_device(array):
    return torch.from_numpy(np.ascontiguousarray(array)).to(DEVICE)


def captured(work, *args):
    """One launch of a CUDA graph."""
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        for _ in range(3):
            work(*args)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        result = work(*args)

    def replay():
        graph.replay()
        return result

    return replay


class Late:
    """A form that is made when it first runs, so that a failure is its own."""

    def __init__(self, make):
        self.make, self.run = make, None

    def __call__(self):
        if self.run is None:
            self.run = self.make()
        return self.run()


def forms(work, *args, compiles=False, captures=True, array=None):
    """All forms of a function on tensors."""
    own = [array] if array else []
    yield "eager", lambda: work(*args), *own
    if captures and IS_GPU:
        yield "in a graph", Late(lambda: captured(work, *args)), *own
    if compiles:
        fast = torch.compile(work, dynamic=False)
        if IS_GPU:
            yield "compiled, in a graph", Late(lambda: captured(fast, *args)), *own
        else:
            yield "compiled", lambda: fast(*args), *own


def of(work, *makers, **options):
    return lambda row: forms(work, *[on_device(make(row)) for make in makers], **options)


def floats(which):
    return lambda row: row.floats(which)


def signed(row):
    """Words as signed numbers of the same bits."""
    return row.words().view(np.int32)


def unsigned(result):
    return result.cpu().numpy().view(np.uint32)


def ordered(row):
    """Words as signed numbers of the same order."""
    return (row.words() ^ np.uint32(1 << 31)).view(np.int32)


def unordered(result):
    return result.cpu().numpy().view(np.uint32) ^ np.uint32(1 << 31)


def long_keys(row):
    return (row.words(1, 2 * row.size).view(np.uint64) ^ np.uint64(1 << 63)).view(np.int64)


def unordered_long(result):
    return result.cpu().numpy().view(np.uint64) ^ np.uint64(1 << 63)


def transposed(row):
    x = on_device(signed(row)).view(sides(row.size))
    return forms(lambda: x.t().contiguous(), array=unsigned)


def permuted(row):
    n = row.size
    x = on_device(row.floats()).view(n >> 18, 512, 512)
    return forms(lambda: x.permute(2, 0, 1).contiguous())


def product(kind):
    def rows(row):
        n = row.size
        a, b = (on_device(row.floats(which, n * n)).to(kind).view(n, n) for which in (1, 2))
        out = lambda result: result.float().cpu().numpy() if kind == torch.bfloat16 else result.cpu().numpy()
        return forms(torch.mm, a, b, array=out)

    return rows


def moments(x):
    x = x - 1
    return torch.stack([x.abs().max(), x.abs().mean(), (x * x).mean()])


def gather(row):
    at = on_device((row.words() % np.uint32(row.size)).astype(np.int64))
    x = on_device(row.floats(2))
    return forms(lambda: torch.index_select(x, 0, at))


def bins(row):
    x = on_device((row.words() % np.uint32(256)).astype(np.int64))
    return forms(lambda: torch.bincount(x, minlength=256), captures=False)


def segments(row):
    n = row.size
    x = on_device(row.floats())
    ends = list(range(0, n, protocol.SEGMENT)) + [n]
    offsets = on_device(np.array(ends, np.int64))
    yield from forms(lambda: torch.segment_reduce(x, "sum", offsets=offsets, unsafe=True))
    if n % protocol.SEGMENT == 0:
        yield from forms(lambda: x.view(-1, protocol.SEGMENT).sum(1))


def compacted(row):
    x, keep = on_device(row.floats()), on_device((row.words(2) & 1).astype(bool))
    return forms(lambda: x[keep], captures=False)


def runs(row):
    x = on_device((row.words() >> np.uint32(30)).view(np.int32))
    return forms(lambda: torch.unique_consecutive(x), captures=False)


def by_key(row):
    keys, values = on_device(ordered(row)), on_device(row.words(2).view(np.int32))

    def work():
        return values[torch.sort(keys, stable=True)[1]]

    return forms(work, array=unsigned)


def spectrum(row):
    x = torch.view_as_complex(on_device(row.floats(1, 2 * row.size)).view(-1, 2))
    return forms(torch.fft.fft, x)


def spectra(row):
    x = torch.view_as_complex(on_device(row.floats(1, 2 * row.size)).view(-1, 1024, 2))
    return forms(torch.fft.fft, x)


def sparse(row):
    starts, columns, values = (on_device(part) for part in protocol.five_points(row.size))
    return torch.sparse_csr_tensor(starts, columns, values, (row.size, row.size))


def sparse_product(row):
    a, x = sparse(row), on_device(row.floats()).view(-1, 1)
    return forms(lambda: a @ x)


def gradients(row):
    """Conjugate gradients by the 5-point stencil, 100 steps."""
    g = int(round(row.size**0.5))
    b = on_device(row.floats()).view(g, g)

    def applied(p):
        q = torch.nn.functional.pad(p, (1, 1, 1, 1))
        return 4 * p - q[:-2, 1:-1] - q[2:, 1:-1] - q[1:-1, :-2] - q[1:-1, 2:]

    def step(x, r, p, rr):
        ap = applied(p)
        alpha = rr / (p * ap).sum()
        x, r = x + alpha * p, r - alpha * ap
        new = (r * r).sum()
        return x, r, r + new / rr * p, new

    def solved(step):
        def work():
            x, r, p, rr = torch.zeros_like(b), b, b, (b * b).sum()
            for _ in range(100):
                x, r, p, rr = step(x, r, p, rr)
            return x

        return work

    yield "eager", solved(step)
    fast = torch.compile(step, dynamic=False)
    if IS_GPU:
        yield "in a graph", Late(lambda: captured(solved(step)))
        yield "compiled, in a graph", Late(lambda: captured(solved(fast)))
    else:
        yield "compiled", solved(fast)


def heat(row):
    """100 steps of the 5-point stencil whose border goes on as it ends."""
    g = int(round(row.size**0.5))
    x = on_device(row.floats()).view(1, 1, g, g)

    def step(x):
        q = torch.nn.functional.pad(x, (1, 1, 1, 1), mode="replicate")
        around = q[..., :-2, 1:-1] + q[..., 2:, 1:-1] + q[..., 1:-1, :-2] + q[..., 1:-1, 2:]
        return x + 0.2 * (around - 4 * x)

    def steps(step):
        def work():
            y = x
            for _ in range(100):
                y = step(y)
            return y

        return work

    yield "eager", steps(step)
    fast = torch.compile(step, dynamic=False)
    if IS_GPU:
        yield "compiled, in a graph", Late(lambda: captured(steps(fast)))
    else:
        yield "compiled", steps(fast)


def cumulated(x):
    return torch.cumsum(0.5 * x + 0.25, 0) * 0.25 + 1


def dot(x, y):
    return torch.dot(x, y).view(1)


FAST = {"compiles": True}
SUM = lambda x: x.sum(dtype=torch.int32).view(1)
SCAN = lambda x: torch.cumsum(x, 0, dtype=torch.int32)
SORT = lambda x: torch.sort(x)[0]
TWO, THREE = (floats(1), floats(2)), (floats(1), floats(2), floats(3))
ROWS = {
    ("algorithms", "reduction"): of(SUM, signed, array=unsigned),
    ("algorithms", "scan"): of(SCAN, signed, array=unsigned),
    ("algorithms", "sort"): of(SORT, ordered, array=unordered),
    ("algorithms", "transpose"): transposed,
    ("fusion", "chain"): of(protocol.chain, *THREE, **FAST),
    ("fusion", "pipeline"): of(protocol.developed, floats(1), **FAST),
    ("fusion", "map-reduce"): of(dot, *TWO),
    ("fusion", "chain of 10"): of(protocol.advanced(10), *TWO, **FAST),
    ("stream", "triad"): of(lambda x, y: x + 0.4 * y, *TWO, **FAST),
    ("stream", "dot"): of(dot, *TWO),
    ("indices", "gather"): gather,
    ("indices", "histogram"): bins,
    ("matmul", "tiled"): product(torch.float32),
    ("library", "sum f32"): of(lambda x: x.sum().view(1), floats(1), **FAST),
    ("library", "three sums"): of(moments, floats(1), **FAST),
    ("library", "scan f32"): of(lambda x: torch.cumsum(x, 0), floats(1)),
    ("library", "scan u32"): of(SCAN, signed, array=unsigned),
    ("library", "map, scan, map"): of(cumulated, floats(1), **FAST),
    ("library", "segmented sum"): segments,
    ("library", "sort f32"): of(SORT, floats(1)),
    ("library", "sort u64"): of(SORT, long_keys, array=unordered_long),
    ("library", "sort order"): of(lambda x: torch.sort(x, stable=True)[1], ordered),
    ("library", "sort by key"): by_key,
    ("library", "histogram"): bins,
    ("library", "compact"): compacted,
    ("library", "unique"): runs,
    ("library", "gather"): gather,
    ("library", "permute"): permuted,
    ("linear", "product f32"): product(torch.float32),
    ("linear", "product f64"): product(torch.float64),
    ("linear", "product bf16"): product(torch.bfloat16),
    ("linear", "transform"): spectrum,
    ("linear", "transform of rows"): spectra,
    ("linear", "sparse product"): sparse_product,
    ("solvers", "conjugate gradients, 100 steps"): gradients,
    ("solvers", "heat, 100 steps"): heat,
}


def finish(_):
    if IS_GPU:
        torch.cuda.synchronize()


def clean():
    torch._dynamo.reset()
    if IS_GPU:
        torch.cuda.empty_cache()


torch.set_grad_enabled(False)
protocol.serve("PyTorch", torch.__version__, ROWS, finish, lambda x: x.cpu().numpy(), clean, REQUESTS)
