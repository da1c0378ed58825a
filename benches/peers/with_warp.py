#!/usr/bin/env python3
"""Warp as a peer on the first CUDA device, captured in a CUDA graph: see protocol.py."""

import protocol
from protocol import np

try:
    import warp as wp

    wp.config.quiet = True
    wp.init()
    DEVICE = wp.get_device("cuda:0")
except Exception as why:
    protocol.absent("Warp", why)


@wp.kernel
def chain(a: wp.array(dtype=float), b: wp.array(dtype=float), c: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    total = a[i] + b[i]
    out[i] = total * c[i] + total * 5.0


@wp.kernel
def advanced(a: wp.array(dtype=float), b: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    x = a[i]
    y = b[i]
    for step in range(5):
        x = 0.5 * x + y
        x = 0.25 * x + y
    out[i] = x


@wp.kernel
def gathered(at: wp.array(dtype=wp.uint32), x: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    out[i] = x[wp.int32(at[i])]


def on_device(array, dtype=wp.float32):
    return wp.array(array, dtype=dtype, device=DEVICE)


def forms(work, result):
    """As it is called, and as one launch of a CUDA graph."""

    def call():
        work()
        return result

    yield "", call
    work()
    with wp.ScopedCapture(device=DEVICE) as capture:
        work()

    def replay():
        wp.capture_launch(capture.graph)
        return result

    yield "in a graph", replay


def of(kernel, count):
    def rows(row):
        arrays = [on_device(row.floats(which)) for which in range(1, count + 1)]
        out = wp.zeros(row.size, dtype=float, device=DEVICE)
        yield from forms(lambda: wp.launch(kernel, row.size, arrays, [out], device=DEVICE), out)

    return rows


def gather(row):
    at, x = on_device(row.words() % np.uint32(row.size), wp.uint32), on_device(row.floats(2))
    out = wp.zeros(row.size, dtype=float, device=DEVICE)
    yield from forms(lambda: wp.launch(gathered, row.size, [at, x], [out], device=DEVICE), out)


def total(row):
    x, out = on_device(row.floats()), wp.zeros(1, dtype=float, device=DEVICE)
    yield from forms(lambda: wp.utils.array_sum(x, out=out), out)


def scan(row):
    x, out = on_device(row.floats()), wp.zeros(row.size, dtype=float, device=DEVICE)
    yield from forms(lambda: wp.utils.array_scan(x, out, inclusive=True), out)


ROWS = {
    ("fusion", "chain"): of(chain, 3),
    ("fusion", "chain of 10"): of(advanced, 2),
    ("indices", "gather"): gather,
    ("library", "gather"): gather,
    ("library", "sum f32"): total,
    ("library", "scan f32"): scan,
}


def finish(_):
    wp.synchronize_device(DEVICE)


protocol.serve("Warp", wp.config.version, ROWS, finish, lambda result: result.numpy())
