#!/usr/bin/env python3
"""JAX as a peer on the first CUDA device, its functions compiled: see protocol.py."""

import os

os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")

import protocol
from protocol import np, sides

try:
    import jax
    import jax.numpy as jnp

    if jax.default_backend() != "gpu":
        protocol.absent("JAX", "it has no CUDA device")
except ImportError as why:
    protocol.absent("JAX", why)


def of(work, *makers):
    def forms(row):
        arrays = [jnp.asarray(make(row)) for make in makers]
        fast = jax.jit(work)
        yield "compiled", lambda: fast(*arrays)

    return forms


def floats(which):
    return lambda row: row.floats(which)


def words(row):
    return row.words()


def square(which):
    return lambda row: row.floats(which, row.size * row.size).reshape(row.size, row.size)


def product(a, b):
    return jnp.matmul(a, b, precision="highest")


def dot(x, y):
    return jnp.sum(x * y).reshape(1)


def moments(x):
    x = x - 1
    return jnp.stack([jnp.abs(x).max(), jnp.abs(x).mean(), (x * x).mean()])


def indices(row):
    return row.words() % np.uint32(row.size)


def grid(row):
    return row.words().reshape(sides(row.size))


def plane(row):
    g = int(round(row.size**0.5))
    return row.floats().reshape(g, g)


def box(row):
    return row.floats().reshape(row.size >> 18, 512, 512)


def signal(row):
    return row.floats(1, 2 * row.size).view(np.complex64)


def heated(x):
    def step(_, x):
        q = jnp.pad(x, 1, mode="edge")
        return x + 0.2 * (q[:-2, 1:-1] + q[2:, 1:-1] + q[1:-1, :-2] + q[1:-1, 2:] - 4 * x)

    return jax.lax.fori_loop(0, 100, step, x)


TWO, THREE = (floats(1), floats(2)), (floats(1), floats(2), floats(3))
ROWS = {
    ("algorithms", "reduction"): of(lambda x: jnp.sum(x, dtype=jnp.uint32).reshape(1), words),
    ("algorithms", "scan"): of(jnp.cumsum, words),
    ("algorithms", "sort"): of(jnp.sort, words),
    ("algorithms", "transpose"): of(lambda x: x.T + 0, grid),
    ("fusion", "chain"): of(protocol.chain, *THREE),
    ("fusion", "pipeline"): of(protocol.developed, floats(1)),
    ("fusion", "map-reduce"): of(dot, *TWO),
    ("fusion", "chain of 10"): of(protocol.advanced(10), *TWO),
    ("stream", "dot"): of(dot, *TWO),
    ("indices", "gather"): of(lambda at, x: x[at], indices, floats(2)),
    ("matmul", "tiled"): of(product, square(1), square(2)),
    ("library", "sum f32"): of(lambda x: x.sum().reshape(1), floats(1)),
    ("library", "three sums"): of(moments, floats(1)),
    ("library", "scan f32"): of(jnp.cumsum, floats(1)),
    ("library", "scan u32"): of(jnp.cumsum, words),
    ("library", "map, scan, map"): of(lambda x: jnp.cumsum(0.5 * x + 0.25) * 0.25 + 1, floats(1)),
    ("library", "sort f32"): of(jnp.sort, floats(1)),
    ("library", "sort order"): of(jnp.argsort, words),
    ("library", "gather"): of(lambda at, x: x[at], indices, floats(2)),
    ("library", "permute"): of(lambda x: x.transpose(2, 0, 1) + 0, box),
    ("linear", "product f32"): of(product, square(1), square(2)),
    ("linear", "transform"): of(jnp.fft.fft, signal),
    ("solvers", "heat, 100 steps"): of(heated, plane),
}

protocol.serve("JAX", jax.__version__, ROWS, lambda x: x.block_until_ready(), np.asarray)
