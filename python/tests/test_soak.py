"""Many runs in one interpreter: memory stays as it is."""

from __future__ import annotations

import gc
import os

import numpy as np
import pytest
import ringlane as rl

#: `RINGLANE_SOAK_RUNS=10000` for the long form.
RUNS = int(os.environ.get("RINGLANE_SOAK_RUNS", "1500"))


@rl.kernel
def axpy(x: rl.In, y: rl.InOut, a: float):
    y += a * x


scale = rl.cc(
    "void scale(const double *x, double *y, size_t n, double a) { for (size_t i = 0; i < n; i++) y[i] = a * x[i]; }",
    "scale",
    [rl.In("f64"), rl.Out("f64"), rl.f64],
)


@rl.kernel
def fail(x: rl.InOut):
    raise ValueError("as planned")


def resident() -> int:
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def test_memory_does_not_grow_with_the_runs():
    x, y = np.arange(256.0), np.zeros(256)

    def program(o, x, y):
        for i in range(8):
            with o.scope(f"step {i}"):
                t = o.submit(scale, x, rl.out("f64", 256), 2.0).out()
                o.submit(axpy, t, y, 1.0)
        return o.read(y)

    with rl.Runtime("cpu", threads=2) as rt, rl.Runtime("a2a3sim") as sim:

        def once(number):
            rt.run(program, x, y)
            if number % 10 == 0:
                sim.run(program, x, y)
                try:
                    rt.run(lambda o, y: o.submit(fail, y) and None, y)
                except rl.errors.TaskFailed:
                    pass

        for number in range(RUNS // 5):
            once(number)
        gc.collect()
        before = resident()
        for number in range(RUNS):
            once(number)
        gc.collect()
        grown = resident() - before
    # A leak of one array of 256 numbers for each task would be 16 KiB for each run.
    assert grown < 2 << 20, f"{grown} bytes more after {RUNS} runs"


def test_runtimes_that_come_and_go_leave_nothing_also_after_a_kernel_that_kept_its_array():
    kept = []

    @rl.kernel
    def keep(x: rl.InOut):
        kept.append(x)

    with rl.Runtime("cpu", threads=2) as rt, pytest.raises(rl.errors.TaskFailed, match="kept an array"):
        rt.run(lambda o, y: o.submit(keep, y) and None, np.ones(8))

    def make():
        with rl.Runtime("cpu", threads=2) as rt:
            rt.run(lambda o, y: o.submit(axpy, y.slice(0, 0, 4), y.slice(0, 4, 4), 1.0) and None, np.ones(8))

    for _ in range(20):
        make()
    gc.collect()
    before, threads = resident(), len(os.listdir("/proc/self/task"))
    for _ in range(60):
        make()
    gc.collect()
    assert resident() - before < 4 << 20
    assert len(os.listdir("/proc/self/task")) <= threads
