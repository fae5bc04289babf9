"""What a submit and a kernel call cost from Python, and what `rl.cc` does: `python overhead.py [--quick] [--cpu]`.

With `--cpu`, submits and calls are measured in time of the processor, which a busy machine changes less."""

import os
import sys
import tempfile
import time
from statistics import median

import numpy as np
import ringlane as rl

ROUNDS = 11 if "--quick" in sys.argv else 101
#: Less than a millisecond a round: on a busy machine, most rounds are not interrupted.
TASKS = 500
now = time.thread_time_ns if "--cpu" in sys.argv else time.perf_counter_ns

nothing = rl.cc("void nothing(const float *a, const float *b, float *c, float s) { }", "nothing",
                [rl.In("f32"), rl.In("f32"), rl.InOut("f32"), rl.f32])


def add(a, b, c):
    np.add(a, b, out=c)


@rl.kernel
def in_python(a: rl.In, b: rl.In, c: rl.InOut):
    np.add(a, b, out=c)


def ns_each(work, count=TASKS):
    """The median over rounds of the time of one of `count`."""
    times = []
    for _ in range(ROUNDS):
        start = now()
        work()
        times.append((now() - start) / count)
    return median(times)


def submits(rt, x, y):
    """Only the submits are timed: the orchestration's own loop."""
    times, many = [], []

    def program(o, x, y, z):
        with o.scope():
            start = now()
            for _ in range(TASKS):
                o.submit(nothing, x, y, z, 1.0)
            times.append((now() - start) / TASKS)

    def at_once(o, x, y, z):
        with o.scope():
            start = now()
            o.submit_many(nothing, [(x, y, z, 1.0)] * TASKS)
            many.append((now() - start) / TASKS)

    for _ in range(ROUNDS):
        rt.run(program, x, y, np.zeros_like(x))
        rt.run(at_once, x, y, np.zeros_like(x))
    return median(times), median(many)


def kernel_call(rt):
    """A Python kernel against the same function called in a loop: one thread runs both."""
    x, y, z = np.ones(16), np.ones(16), np.ones(16)

    def tasks(kernel):
        def program(o, x, y, z):
            with o.scope():
                o.submit_many(kernel, [(x, y, z)] * TASKS)

        return ns_each(lambda: rt.run(program, x, y, z))

    native = rl.cc("void three(const double *a, const double *b, double *c) { }", "three", [rl.In("f64"), rl.In("f64"), rl.InOut("f64")])
    plain = ns_each(lambda: [add(x, y, z) for _ in range(TASKS)])
    return tasks(in_python) - tasks(native), plain


def compile_times():
    with tempfile.TemporaryDirectory() as place:
        os.environ["RINGLANE_CACHE"] = place
        source = f"void k(float *x, size_t n) {{ x[0] = {time.time_ns()}; }}"
        start = time.perf_counter()
        rl.cc(source, "k", [rl.InOut("f32")])
        cold = time.perf_counter() - start
        from ringlane import cc as _  # noqa: F401
        module = sys.modules["ringlane.cc"]
        module._MADE.clear()
        module._LIBRARIES.clear()
        start = time.perf_counter()
        rl.cc(source, "k", [rl.InOut("f32")])
        on_disk = time.perf_counter() - start
        start = time.perf_counter()
        rl.cc(source, "k", [rl.InOut("f32")])
        return cold, on_disk, time.perf_counter() - start


with rl.Runtime("cpu", threads=1, ring_task_window=4096, ring_dep_pool=16384) as rt:
    x, y = np.ones(16, np.float32), np.ones(16, np.float32)
    one, many = submits(rt, x, y)
    call, plain = kernel_call(rt)
cold, on_disk, again = compile_times()
print(f"submit with four arguments:      {one:7.0f} ns; in submit_many {many:.0f} ns")
print(f"Python kernel with three arrays: {call:7.0f} ns, of which the function itself {plain:.0f} ns: {call - plain:.0f} ns beyond it")
print(f"rl.cc: {cold * 1e3:.0f} ms cold, {on_disk * 1e3:.2f} ms from the disk, {again * 1e6:.1f} µs again in one process")
