"""The protocol of peers in Python, and the data of rows.

The matrix of benchmarks (docs/guide/bench-matrix.md) starts a script, writes a JSON line for each
row to its standard input, and reads a JSON line for each form of a row that the library has. A
script has a table of rows: from workload and mode to a function of the request that yields forms.
A form is a name and a function that starts one run and returns its results, which stay valid until
the next run. A third value of a form, if there is one, turns the results into a NumPy array.
"""

import functools
import json
import math
import sys
import time

try:
    import numpy as np
except ImportError as why:
    print(json.dumps({"protocol": 1, "kind": "absent", "name": "Python", "reason": str(why)}))
    sys.exit()

PROTOCOL = 1


def say(kind, **rest):
    print(json.dumps({"protocol": PROTOCOL, "kind": kind, **rest}), flush=True)


def absent(name, why):
    """Ends a script whose library is not here."""
    say("absent", name=name, reason=str(why) or type(why).__name__)
    sys.exit()


@functools.lru_cache(maxsize=4)
def words(seed, n, which):
    """The matrix's random words (SplitMix64)."""
    mask = (1 << 64) - 1
    start = seed ^ (which * 0xA0761D6478BD642F & mask)
    out = np.empty(n, np.uint32)
    for at in range(0, n, 1 << 20):
        end = min(n, at + (1 << 20))
        z = np.arange(at + 1, end + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
        z += np.uint64(start)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        out[at:end] = (z ^ (z >> np.uint64(31))) >> np.uint64(32)
    return out


@functools.lru_cache(maxsize=4)
def floats(seed, n, which):
    """The matrix's floats from 0.5 to 1.5."""
    return (words(seed, n, which) >> np.uint32(8)).astype(np.float32) / np.float32(1 << 24) + np.float32(0.5)


class Row:
    """A request."""

    def __init__(self, line):
        self.__dict__.update(json.loads(line))

    def words(self, which=1, n=None):
        return words(self.seed, self.size if n is None else n, which)

    def floats(self, which=1, n=None):
        return floats(self.seed, self.size if n is None else n, which)


def check(values):
    """The check value: a weighted mean, the root mean square, and 16 elements."""
    values = values.reshape(-1)
    if np.iscomplexobj(values):
        values = values.view(values.real.dtype)
    n, mean, square = values.size, 0.0, 0.0
    weights = 1.0 + np.arange(1 << 20) % 1024 / 1024
    for at in range(0, n, 1 << 20):
        part = values[at : at + (1 << 20)].astype(np.float64)
        mean += float(part @ weights[: part.size])
        square += float(part @ part)
    places = [float(values[k * (n - 1) // 15]) for k in range(16)] if n else []
    return [mean / max(n, 1), (square / max(n, 1)) ** 0.5] + places


def timed(run, finish, times):
    """Nanoseconds of one of so many runs."""
    start = time.perf_counter_ns()
    for _ in range(times):
        result = run()
    finish(result)
    return (time.perf_counter_ns() - start) / times


def measure(row, name, version, run, finish, array):
    """Prints a form's line."""
    result = run()
    finish(result)
    value = check(array(result))
    if not all(math.isfinite(one) for one in value):
        raise ValueError("results that are no numbers")
    del result
    timed(run, finish, 1)
    times = int(min(max(row.sample / max(timed(run, finish, 1), 1), 1), 10_000))
    samples = [timed(run, finish, times) for _ in range(row.rounds)]
    row = {"workload": row.workload, "mode": row.mode, "size": row.size}
    say("result", **row, name=name, version=version, samples=samples, check=value)


def serve(library, version, rows, finish, array, clean=lambda: None, requests=sys.stdin):
    """Answers all requests. `finish` waits for a result; `array` makes a NumPy array of it."""
    for line in requests:
        row = Row(line)
        forms, name = rows.get((row.workload, row.mode), lambda _: []), library
        try:
            for form, run, *own in forms(row):
                name = f"{library} {form}".strip()
                try:
                    measure(row, name, version, run, finish, own[0] if own else array)
                except Exception as why:
                    say("failed", name=name, reason=f"{type(why).__name__}: {why}"[:500])
        except Exception as why:
            say("failed", name=name, reason=f"{type(why).__name__}: {why}"[:500])
        clean()
        say("done")


# The formulas of rows, for any library whose arrays have operators.


def chain(a, b, c):
    total = a + b
    return total * c + total * 5


def curved(v):
    return v * (1.5 - 0.5 * v * v)


def developed(x):
    exposed = 0.9 * x + 0.05
    first = curved(exposed)
    second = curved(0.8 * first + 0.1)
    mixed = exposed + 0.6 * (second - exposed)
    third = curved(0.7 * mixed + 0.2)
    return mixed + 0.3 * (third - mixed)


def advanced(k):
    def work(x, y):
        for step in range(k):
            x = (0.5 if step % 2 == 0 else 0.25) * x + y
        return x

    return work


def sides(n):
    """Rows and columns of a power of two."""
    rows = 1 << ((n.bit_length() - 1) // 2)
    return rows, n // rows


SEGMENT = 1000


def five_points(n):
    """The CSR arrays of the 5-point matrix of a square grid with n points."""
    g = int(round(n**0.5))
    at = np.arange(n, dtype=np.int64)
    r, c = at // g, at % g
    columns = np.stack([at - g, at - 1, at, at + 1, at + g], 1)
    there = np.stack([r > 0, c > 0, at >= 0, c < g - 1, r < g - 1], 1)
    values = np.broadcast_to(np.array([-1, -1, 4, -1, -1], np.float32), (n, 5))
    starts = np.concatenate([[0], np.cumsum(there.sum(1))]).astype(np.int32)
    return starts, columns[there].astype(np.int32), values[there].astype(np.float32)
