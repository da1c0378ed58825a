#!/usr/bin/env python3
"""Triton as a peer on the first CUDA device, captured in a CUDA graph: see protocol.py.

PyTorch allocates the arrays and captures the launches; all arithmetic is Triton's.
"""

import protocol
from protocol import np

try:
    import torch
    import triton
    import triton.language as tl
except ImportError as why:
    protocol.absent("Triton", why)

if not torch.cuda.is_available():
    protocol.absent("Triton", "PyTorch has no CUDA device")

# Elements of a program in kernels over arrays, and in the first kernel of a sum.
BLOCK, CHUNK = 1024, 16384


@triton.jit
def triad_kernel(x, y, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    tl.store(out + at, tl.load(x + at, inside) + 0.4 * tl.load(y + at, inside), inside)


@triton.jit
def chain_kernel(a, b, c, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    total = tl.load(a + at, inside) + tl.load(b + at, inside)
    tl.store(out + at, total * tl.load(c + at, inside) + total * 5.0, inside)


@triton.jit
def advanced_kernel(a, b, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    x, y = tl.load(a + at, inside), tl.load(b + at, inside)
    for _ in tl.static_range(5):
        x = 0.5 * x + y
        x = 0.25 * x + y
    tl.store(out + at, x, inside)


@triton.jit
def sum_kernel(x, out, n, CHUNK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * CHUNK + tl.arange(0, CHUNK)
    tl.store(out + tl.program_id(0), tl.sum(tl.load(x + at, at < n, other=0.0), 0))


@triton.jit
def dot_kernel(x, y, out, n, CHUNK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * CHUNK + tl.arange(0, CHUNK)
    inside = at < n
    product = tl.load(x + at, inside, other=0.0) * tl.load(y + at, inside, other=0.0)
    tl.store(out + tl.program_id(0), tl.sum(product, 0))


TILES = [
    triton.Config({"M": 128, "N": 128, "K": 32, "GROUP": 8}, num_stages=3, num_warps=8),
    triton.Config({"M": 128, "N": 64, "K": 32, "GROUP": 8}, num_stages=4, num_warps=4),
    triton.Config({"M": 64, "N": 64, "K": 32, "GROUP": 8}, num_stages=4, num_warps=4),
    triton.Config({"M": 128, "N": 256, "K": 64, "GROUP": 8}, num_stages=3, num_warps=8),
    triton.Config({"M": 64, "N": 32, "K": 16, "GROUP": 8}, num_stages=2, num_warps=4),
]


@triton.autotune(configs=TILES, key=["n"])
@triton.jit
def product_kernel(
    a, b, out, n, IEEE: tl.constexpr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, GROUP: tl.constexpr
):
    # Programs that run together share rows of `a` and columns of `b` in the cache.
    across = tl.cdiv(n, N)
    down = tl.cdiv(n, M)
    program = tl.program_id(0)
    group = program // (GROUP * across)
    first = group * GROUP
    height = min(down - first, GROUP)
    row = first + (program % (GROUP * across)) % height
    column = (program % (GROUP * across)) // height
    rows = row.to(tl.int64) * M + tl.arange(0, M)
    columns = column.to(tl.int64) * N + tl.arange(0, N)
    total = tl.zeros((M, N), tl.float32)
    for start in range(0, n, K):
        k = start + tl.arange(0, K)
        of_a = tl.load(a + rows[:, None] * n + k[None, :], (rows[:, None] < n) & (k[None, :] < n), other=0.0)
        of_b = tl.load(b + k[:, None] * n + columns[None, :], (k[:, None] < n) & (columns[None, :] < n), other=0.0)
        if IEEE:
            total = tl.dot(of_a, of_b, total, input_precision="ieee")
        else:
            total = tl.dot(of_a, of_b, total)
    inside = (rows[:, None] < n) & (columns[None, :] < n)
    tl.store(out + rows[:, None] * n + columns[None, :], total.to(out.dtype.element_ty), inside)


def on_device(array):
    return torch.from_numpy(np.ascontiguousarray(array)).to("cuda")


def forms(work, result):
    """As it is called, and as one launch of a CUDA graph."""

    def call():
        work()
        return result

    yield "", call
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        for _ in range(3):
            work()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        work()

    def replay():
        graph.replay()
        return result

    yield "in a graph", replay


def of(kernel, count):
    """A kernel of so many arrays, and the result behind them."""

    def rows(row):
        n = row.size
        arrays = [on_device(row.floats(which)) for which in range(1, count + 1)]
        out = torch.empty(n, dtype=torch.float32, device="cuda")
        grid = (triton.cdiv(n, BLOCK),)
        yield from forms(lambda: kernel[grid](*arrays, out, n, BLOCK=BLOCK), out)

    return rows


def folded(kernel, count):
    """One sum for each program, and the sum of these in one program."""

    def rows(row):
        n = row.size
        arrays = [on_device(row.floats(which)) for which in range(1, count + 1)]
        programs = triton.cdiv(n, CHUNK)
        parts = torch.empty(programs, dtype=torch.float32, device="cuda")
        out = torch.empty(1, dtype=torch.float32, device="cuda")
        last = triton.next_power_of_2(programs)

        def work():
            kernel[(programs,)](*arrays, parts, n, CHUNK=CHUNK, num_warps=8)
            sum_kernel[(1,)](parts, out, programs, CHUNK=last, num_warps=8)

        yield from forms(work, out)

    return rows


def product(kind):
    def rows(row):
        n = row.size
        a, b = (on_device(row.floats(which, n * n)).to(kind) for which in (1, 2))
        out = torch.empty(n * n, dtype=kind, device="cuda")
        is_exact = kind == torch.float32

        def grid(tile):
            return (triton.cdiv(n, tile["M"]) * triton.cdiv(n, tile["N"]),)

        yield from forms(lambda: product_kernel[grid](a, b, out, n, IEEE=is_exact), out)

    return rows


ROWS = {
    ("stream", "triad"): of(triad_kernel, 2),
    ("stream", "dot"): folded(dot_kernel, 2),
    ("fusion", "chain"): of(chain_kernel, 3),
    ("fusion", "chain of 10"): of(advanced_kernel, 2),
    ("fusion", "map-reduce"): folded(dot_kernel, 2),
    ("library", "sum f32"): folded(sum_kernel, 1),
    ("matmul", "tiled"): product(torch.float32),
    ("linear", "product f32"): product(torch.float32),
    ("linear", "product bf16"): product(torch.bfloat16),
}


def finish(_):
    torch.cuda.synchronize()


def array(result):
    return (result.float() if result.dtype == torch.bfloat16 else result).cpu().numpy()


protocol.serve("Triton", triton.__version__, ROWS, finish, array, torch.cuda.empty_cache)
