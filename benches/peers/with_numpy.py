#!/usr/bin/env python3
"""NumPy as a peer on CPUs: see protocol.py."""

import protocol
from protocol import np, sides


def of(function, *makers):
    """A row whose only form calls a function on arrays."""

    def forms(row):
        arrays = [make(row) for make in makers]
        yield "", lambda: function(*arrays)

    return forms


def floats(which):
    return lambda row: row.floats(which)


def words(row):
    return row.words()


def transposed(row):
    x = row.words().reshape(sides(row.size))
    yield "", lambda: np.ascontiguousarray(x.T)


def product(kind):
    def forms(row):
        n = row.size
        a, b = (row.floats(which, n * n).astype(kind).reshape(n, n) for which in (1, 2))
        yield "", lambda: a @ b

    return forms


def moments(x):
    size = np.abs(x)
    return np.array([size.max(), size.mean(), (x * x).mean()])


def spectrum(row):
    x = row.floats(1, 2 * row.size).view(np.complex64)
    yield "", lambda: np.fft.fft(x)


def gather(row):
    at, x = row.words() % np.uint32(row.size), row.floats(2)
    yield "", lambda: x[at]


def segments(row):
    x, starts = row.floats(), np.arange(0, row.size, protocol.SEGMENT)
    yield "", lambda: np.add.reduceat(x, starts)


def bins(row):
    x = row.words() % 256
    yield "", lambda: np.bincount(x, minlength=256)


def compacted(row):
    x, keep = row.floats(), (row.words(2) & 1).astype(bool)
    yield "", lambda: x[keep]


def runs(row):
    x = row.words() >> np.uint32(30)

    def unique():
        is_first = np.empty(x.size, bool)
        is_first[0], is_first[1:] = True, x[1:] != x[:-1]
        return x[is_first]

    yield "", unique


ROWS = {
    ("algorithms", "reduction"): of(lambda x: np.add.reduce(x, dtype=np.uint32, keepdims=True), words),
    ("algorithms", "scan"): of(lambda x: np.cumsum(x, dtype=np.uint32), words),
    ("algorithms", "sort"): of(np.sort, words),
    ("algorithms", "transpose"): transposed,
    ("fusion", "chain"): of(protocol.chain, floats(1), floats(2), floats(3)),
    ("fusion", "pipeline"): of(protocol.developed, floats(1)),
    ("fusion", "map-reduce"): of(lambda x, y: np.array([x @ y]), floats(1), floats(2)),
    ("fusion", "chain of 10"): of(protocol.advanced(10), floats(1), floats(2)),
    ("stream", "dot"): of(lambda x, y: np.array([x @ y]), floats(1), floats(2)),
    ("indices", "gather"): gather,
    ("indices", "histogram"): bins,
    ("matmul", "tiled"): product(np.float32),
    ("library", "sum f32"): of(lambda x: np.array([x.sum()]), floats(1)),
    ("library", "three sums"): of(lambda x: moments(x - np.float32(1)), floats(1)),
    ("library", "scan f32"): of(np.cumsum, floats(1)),
    ("library", "scan u32"): of(lambda x: np.cumsum(x, dtype=np.uint32), words),
    ("library", "map, scan, map"): of(lambda x: np.cumsum(0.5 * x + 0.25) * 0.25 + 1, floats(1)),
    ("library", "segmented sum"): segments,
    ("library", "sort f32"): of(np.sort, floats(1)),
    ("library", "sort u64"): of(lambda x: np.sort(x), lambda row: row.words(1, 2 * row.size).view(np.uint64)),
    ("library", "sort order"): of(lambda x: np.argsort(x, kind="stable"), words),
    ("library", "sort by key"): of(lambda k, v: v[np.argsort(k, kind="stable")], words, lambda row: row.words(2)),
    ("library", "histogram"): bins,
    ("library", "compact"): compacted,
    ("library", "unique"): runs,
    ("library", "gather"): gather,
    ("linear", "product f32"): product(np.float32),
    ("linear", "product f64"): product(np.float64),
    ("linear", "transform"): spectrum,
}

protocol.serve("NumPy", np.__version__, ROWS, lambda _: None, np.asarray)
