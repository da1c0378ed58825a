#!/usr/bin/env python3
"""Numba as a peer, on CPUs by parallel loops and on GPUs by kernels: see protocol.py."""

import sys

import protocol
from protocol import np

try:
    import numba
    from numba import cuda, njit, prange
except ImportError as why:
    protocol.absent("Numba", why)

REQUESTS = sys.stdin.readlines()
IS_GPU = any('"on":"gpu"' in line for line in REQUESTS)
if IS_GPU and not cuda.is_available():
    protocol.absent("Numba", "it has no CUDA device")
THREADS = 256


def compiled(function):
    """A function of single elements, for the loops of a device."""
    return cuda.jit(device=True)(function) if IS_GPU else njit(inline="always")(function)


def elementwise(function):
    """A form that computes each element of its result from those of its arrays."""
    one = compiled(function)
    if IS_GPU:

        @cuda.jit
        def kernel1(x, out):
            i = cuda.grid(1)
            if i < out.size:
                out[i] = one(x[i])

        @cuda.jit
        def kernel2(x, y, out):
            i = cuda.grid(1)
            if i < out.size:
                out[i] = one(x[i], y[i])

        @cuda.jit
        def kernel3(x, y, z, out):
            i = cuda.grid(1)
            if i < out.size:
                out[i] = one(x[i], y[i], z[i])

        kernels = kernel1, kernel2, kernel3

        def run(arrays, out):
            kernels[len(arrays) - 1][(out.size + THREADS - 1) // THREADS, THREADS](*arrays, out)
            return out

        return run

    @njit(parallel=True)
    def loop1(x, out):
        for i in prange(out.size):
            out[i] = one(x[i])

    @njit(parallel=True)
    def loop2(x, y, out):
        for i in prange(out.size):
            out[i] = one(x[i], y[i])

    @njit(parallel=True)
    def loop3(x, y, z, out):
        for i in prange(out.size):
            out[i] = one(x[i], y[i], z[i])

    loops = loop1, loop2, loop3

    def run(arrays, out):
        loops[len(arrays) - 1](*arrays, out)
        return out

    return run


def on_device(array):
    return cuda.to_device(np.ascontiguousarray(array)) if IS_GPU else array


def of(function, count):
    def forms(row):
        run = elementwise(function)
        arrays = [on_device(row.floats(which)) for which in range(1, count + 1)]
        out = on_device(np.zeros(row.size, np.float32))
        yield "", lambda: run(arrays, out)

    return forms


ONE, FIVE, HALF, QUARTER = (np.float32(x) for x in (1, 5, 0.5, 0.25))


def chain(a, b, c):
    total = a + b
    return total * c + total * FIVE


def advanced(x, y):
    for step in range(10):
        x = (HALF if step % 2 == 0 else QUARTER) * x + y
    return x


def total(row):
    x = on_device(row.floats())
    if IS_GPU:
        add = cuda.reduce(lambda a, b: a + b)
        result = cuda.device_array(1, np.float32)

        def run():
            add(x, res=result)
            return result

        yield "", run
        return

    @njit(parallel=True, fastmath=True)
    def add_all(x):
        sum = np.float32(0)
        for i in prange(x.size):
            sum += x[i]
        return sum

    yield "", lambda: np.array([add_all(x)])


def gather(row):
    at, x = on_device(row.words() % np.uint32(row.size)), on_device(row.floats(2))
    out = on_device(np.zeros(row.size, np.float32))
    if IS_GPU:

        @cuda.jit
        def kernel(at, x, out):
            i = cuda.grid(1)
            if i < out.size:
                out[i] = x[at[i]]

        def run():
            kernel[(out.size + THREADS - 1) // THREADS, THREADS](at, x, out)
            return out

        yield "", run
        return

    @njit(parallel=True)
    def loop(at, x, out):
        for i in prange(out.size):
            out[i] = x[at[i]]

    def run():
        loop(at, x, out)
        return out

    yield "", run


ROWS = {
    ("fusion", "chain"): of(chain, 3),
    ("fusion", "chain of 10"): of(advanced, 2),
    ("indices", "gather"): gather,
    ("library", "gather"): gather,
    ("library", "sum f32"): total,
}


def finish(_):
    if IS_GPU:
        cuda.synchronize()


def array(result):
    return result.copy_to_host() if IS_GPU else result


protocol.serve("Numba", numba.__version__, ROWS, finish, array, requests=REQUESTS)
