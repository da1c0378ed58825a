#!/usr/bin/env python3
"""The chain of the matrix's workload `fusion`, by peers, on the first CUDA device.

    z = (a + b) * c + 5 * (a + b)    over n floats: 16 necessary bytes for each

Peers are torch eager, torch.compile and cupy.fuse. Each result is compared with the same formula in
float64. A peer that is not installed, or a machine without a GPU, is skipped with the reason. For
ours, run beside it in the same minutes:

    cargo xtask bench-matrix -w fusion -m chain -b cuda -s 2^28

    python3 benches/peers/fusion.py [log2 of n, default 28]
"""

import statistics
import sys
import time

ROUNDS = 20


def report(name, n, seconds):
    """One line: the median time, and the rate over the necessary bytes."""
    median = statistics.median(seconds)
    print(f"{name:16} {median * 1e6:10.1f} us {16 * n / median / 1e12:8.3f} TB/s")


def timed(run, finish):
    """Seconds of each round, after three that do not count."""
    seconds = []
    for round_ in range(ROUNDS + 3):
        finish()
        start = time.perf_counter()
        run()
        finish()
        if round_ >= 3:
            seconds.append(time.perf_counter() - start)
    return seconds


def by_torch(n):
    try:
        import torch
    except ImportError as why:
        return print(f"skipped: torch: {why}")
    if not torch.cuda.is_available():
        return print("skipped: torch: no CUDA device")
    a, b, c = (torch.rand(n, device="cuda") for _ in range(3))

    def chain(a, b, c):
        total = a + b
        return total * c + total * 5

    compiled = torch.compile(chain)
    few = slice(0, min(n, 1 << 20))
    exact = chain(*(x[few].double() for x in (a, b, c)))
    for name, run in [("torch eager", chain), ("torch.compile", compiled)]:
        try:
            error = (run(a, b, c)[few].double() - exact).abs().max().item()
        except Exception as why:  # What compiles may lack a compiler.
            print(f"skipped: {name}: {why}")
            continue
        assert error < 1e-5, (name, error)
        report(name, n, timed(lambda: run(a, b, c), torch.cuda.synchronize))


def by_cupy(n):
    try:
        import cupy
    except ImportError as why:
        return print(f"skipped: cupy: {why}")
    try:
        finish = cupy.cuda.Device().synchronize
        a, b, c = (cupy.random.rand(n, dtype=cupy.float32) for _ in range(3))
    except cupy.cuda.runtime.CUDARuntimeError as why:
        return print(f"skipped: cupy: {why}")

    @cupy.fuse()
    def chain(a, b, c):
        total = a + b
        return total * c + total * cupy.float32(5)

    x, y, z = (v[: 1 << 20].astype(cupy.float64) for v in (a, b, c))
    error = float(abs(chain(a, b, c)[: 1 << 20] - ((x + y) * z + (x + y) * 5)).max())
    assert error < 1e-5, ("cupy.fuse", error)
    report("cupy.fuse", n, timed(lambda: chain(a, b, c), finish))


def main():
    n = 1 << int(sys.argv[1] if len(sys.argv) > 1 else 28)
    by_torch(n)
    by_cupy(n)


if __name__ == "__main__":
    main()
