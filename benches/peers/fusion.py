#!/usr/bin/env python3
"""The chain of the matrix's workload `fusion`, by peers, on the first CUDA device.

    z = (a + b) * c + 5 * (a + b)    over n floats: 16 necessary bytes for each

Peers are torch eager, torch.compile, cupy.fuse, and CUDASTF as four tasks and as one. Each result is
compared with the same formula in float64. The first line is the device's own copy of n floats, by
its driver: 8 bytes for each. A peer that is not installed, or a machine without a GPU, is skipped
with the reason. CUDASTF needs nvcc, and a checkout of github.com/NVIDIA/cccl that the environment
variable CCCL names. For ours, run beside it in the same minutes:

    cargo xtask bench-matrix -w fusion -m chain -b cuda -s 2^28

    python3 benches/peers/fusion.py [log2 of n, default 28]
"""

import ctypes
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

ROUNDS = 20


def report(name, n, seconds, bytes_each=16):
    """One line: the median time, and the rate over the necessary bytes."""
    median = statistics.median(seconds)
    rate = bytes_each * n / median / 1e12
    print(f"{name:16} {median * 1e6:10.1f} us {rate:8.3f} TB/s", flush=True)


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


def copy(n):
    """What the driver's copy from device to device reaches."""
    try:
        cuda = ctypes.CDLL("libcuda.so.1")
    except OSError as why:
        return print(f"skipped: copy: {why}")

    def check(what, *args):
        code = getattr(cuda, what)(*args)
        if code:
            raise RuntimeError(f"{what}: error {code}")

    device, context = ctypes.c_int(), ctypes.c_void_p()
    memory = [ctypes.c_uint64(), ctypes.c_uint64()]
    try:
        check("cuInit", 0)
        check("cuDeviceGet", ctypes.byref(device), 0)
        check("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
        check("cuCtxSetCurrent", context)
        for place in memory:
            check("cuMemAlloc_v2", ctypes.byref(place), ctypes.c_size_t(4 * n))
            check("cuMemsetD32_v2", place, ctypes.c_uint(7), ctypes.c_size_t(n))
        run = lambda: check("cuMemcpyDtoD_v2", memory[1], memory[0], ctypes.c_size_t(4 * n))
        report("copy", n, timed(run, lambda: check("cuCtxSynchronize")), 8)
        for place in memory:
            check("cuMemFree_v2", place)
        check("cuDevicePrimaryCtxRelease_v2", device)
    except RuntimeError as why:
        print(f"skipped: copy: {why}")


def by_cudastf(n):
    """Compiles `chain_stf.cu`, and runs it."""
    nvcc, cccl = shutil.which("nvcc"), os.environ.get("CCCL")
    if not nvcc:
        return print("skipped: CUDASTF: there is no nvcc")
    if not cccl:
        return print("skipped: CUDASTF: CCCL does not name a checkout of NVIDIA/cccl")
    folders = ["libcudacxx/include", "cudax/include", "cub", "thrust"]
    include = [f"-I{pathlib.Path(cccl) / folder}" for folder in folders]
    flags = ["-std=c++17", "-O3", "-arch=native", "--extended-lambda", "--expt-relaxed-constexpr"]
    with tempfile.TemporaryDirectory() as folder:
        program = str(pathlib.Path(folder) / "chain_stf")
        source = str(pathlib.Path(__file__).with_name("chain_stf.cu"))
        made = subprocess.run([nvcc, *flags, *include, source, "-lcuda", "-o", program])
        if made.returncode:
            return print("skipped: CUDASTF: nvcc has refused chain_stf.cu")
        # It ends with 1 where its result is wrong.
        subprocess.run([program, str(n.bit_length() - 1)], check=True)


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
    copy(n)
    by_torch(n)
    by_cupy(n)
    by_cudastf(n)


if __name__ == "__main__":
    main()
