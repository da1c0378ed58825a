#!/usr/bin/env python3
"""CuPy as a peer on the first CUDA device: see protocol.py."""

import protocol
from protocol import np, sides

try:
    import cupy

    cupy.zeros(1)
except Exception as why:
    protocol.absent("CuPy", why)

fuse = cupy.fuse()


def of(work, *makers, form=""):
    def forms(row):
        arrays = [cupy.asarray(make(row)) for make in makers]
        yield form, lambda: work(*arrays)

    return forms


def floats(which):
    return lambda row: row.floats(which)


def words(row):
    return row.words()


def fused(work, *makers):
    return of(fuse(work), *makers, form="fused")


def chain(a, b, c):
    total = a + b
    return total * c + total * cupy.float32(5)


def transposed(row):
    x = cupy.asarray(row.words()).reshape(sides(row.size))
    yield "", lambda: cupy.ascontiguousarray(x.T)


def permuted(row):
    x = cupy.asarray(row.floats()).reshape(row.size >> 18, 512, 512)
    yield "", lambda: cupy.ascontiguousarray(x.transpose(2, 0, 1))


def product(kind):
    def forms(row):
        n = row.size
        a, b = (cupy.asarray(row.floats(which, n * n).astype(kind)).reshape(n, n) for which in (1, 2))
        yield "", lambda: a @ b

    return forms


def gather(row):
    at, x = cupy.asarray(row.words() % np.uint32(row.size)), cupy.asarray(row.floats(2))
    yield "", lambda: cupy.take(x, at)


def bins(row):
    x = cupy.asarray((row.words() % 256).astype(np.uint8))
    yield "bincount of u8", lambda: cupy.bincount(x, minlength=256)


def compacted(row):
    x, keep = cupy.asarray(row.floats()), cupy.asarray((row.words(2) & 1).astype(bool))
    yield "", lambda: x[keep]


def by_key(row):
    keys, values = cupy.asarray(row.words()), cupy.asarray(row.words(2))
    yield "", lambda: values[cupy.argsort(keys)]


def spectrum(row):
    x = cupy.asarray(row.floats(1, 2 * row.size)).view(cupy.complex64)
    yield "", lambda: cupy.fft.fft(x)


def spectra(row):
    x = cupy.asarray(row.floats(1, 2 * row.size)).view(cupy.complex64).reshape(-1, 1024)
    yield "", lambda: cupy.fft.fft(x)


def sparse_product(row):
    import cupyx.scipy.sparse

    starts, columns, values = (cupy.asarray(part) for part in protocol.five_points(row.size))
    a = cupyx.scipy.sparse.csr_matrix((values, columns, starts), (row.size, row.size))
    x = cupy.asarray(row.floats())
    yield "", lambda: a @ x


def moments(x):
    size = abs(x - cupy.float32(1))
    return cupy.stack([size.max(), size.mean(), (size * size).mean()])


def wrapped(array):
    """Results of 64 bits, as the words that they are counted in."""
    return cupy.asnumpy(array).astype(np.uint32)


def long_keys(row):
    return row.words(1, 2 * row.size).view(np.uint64)


SCAN = lambda x: cupy.cumsum(x, dtype=cupy.uint32)
SUM = lambda x: x.sum(dtype=cupy.uint32, keepdims=True)
TWO, THREE = (floats(1), floats(2)), (floats(1), floats(2), floats(3))
ROWS = {
    ("algorithms", "reduction"): of(SUM, words),
    ("algorithms", "scan"): of(SCAN, words),
    ("algorithms", "sort"): of(cupy.sort, words),
    ("algorithms", "transpose"): transposed,
    ("fusion", "chain"): fused(chain, *THREE),
    ("fusion", "chain of 10"): fused(protocol.advanced(10), *TWO),
    ("stream", "dot"): of(lambda x, y: x.dot(y).reshape(1), *TWO),
    ("indices", "gather"): gather,
    ("indices", "histogram"): bins,
    ("matmul", "tiled"): product(np.float32),
    ("library", "sum f32"): of(lambda x: x.sum(keepdims=True), floats(1)),
    ("library", "three sums"): of(moments, floats(1)),
    ("library", "scan f32"): of(cupy.cumsum, floats(1)),
    ("library", "scan u32"): of(SCAN, words),
    ("library", "sort f32"): of(cupy.sort, floats(1)),
    ("library", "sort u64"): of(cupy.sort, long_keys),
    ("library", "sort order"): of(cupy.argsort, words),
    ("library", "sort by key"): by_key,
    ("library", "histogram"): bins,
    ("library", "compact"): compacted,
    ("library", "gather"): gather,
    ("library", "permute"): permuted,
    ("linear", "product f32"): product(np.float32),
    ("linear", "product f64"): product(np.float64),
    ("linear", "transform"): spectrum,
    ("linear", "transform of rows"): spectra,
    ("linear", "sparse product"): sparse_product,
}


def finish(_):
    cupy.cuda.Device().synchronize()


def clean():
    cupy.get_default_memory_pool().free_all_blocks()


protocol.serve("CuPy", cupy.__version__, ROWS, finish, cupy.asnumpy, clean)
