"""Random programs against NumPy: on every platform the results are equal, bit for bit."""

from __future__ import annotations

import random

import numpy as np
import pytest
import ringlane as rl

PROGRAMS = 200


@rl.kernel
def combine(x: rl.In, y: rl.InOut, a: int):
    y[...] = y * np.int64(3) + x * np.int64(a) + 1


@rl.kernel(core="aic")
def replace(x: rl.In, y: rl.Out):
    y[...] = x ^ np.int64(0x5A5A)


mix = rl.cc(
    "void mix(const int64_t *x, size_t x_dim0, size_t x_dim1, size_t x_stride0, size_t x_stride1,"
    " int64_t *y, size_t y_stride0, size_t y_stride1, int64_t a) {"
    " for (size_t i = 0; i < x_dim0; i++) for (size_t j = 0; j < x_dim1; j++) {"
    " uint64_t *to = (uint64_t *)y + i * y_stride0 + j * y_stride1;"
    " *to = *to * 5 + (uint64_t)x[i * x_stride0 + j * x_stride1] * (uint64_t)a; } }",
    "mix",
    [rl.In("i64", ndim=2), rl.InOut("i64", ndim=2), rl.i64],
)


class Numpy:
    """Does at once, on arrays, what the steps of a program say."""

    def __init__(self, arrays):
        self.values = list(arrays)

    def step(self, kind, source, target, a):
        x, y = self.view(source), self.view(target)
        if kind == "combine":
            y[...] = y * np.int64(3) + x * np.int64(a) + 1
        elif kind == "mix":
            y[...] = (y.astype(np.uint64) * np.uint64(5) + x.astype(np.uint64) * np.uint64(a)).astype(np.int64)
        else:
            y[...] = x ^ np.int64(0x5A5A)

    def view(self, place):
        which, (top, left), (rows, cols), turned = place
        view = self.values[which][top : top + rows, left : left + cols]
        return view.T if turned else view


def draw(seed):
    """A program: shapes, and steps between views of equal shape."""
    rng = random.Random(seed)
    side = rng.choice([4, 8, 16, 24])
    arrays, steps = rng.randint(1, 4), []
    for _ in range(rng.randint(1, 60)):
        rows = rng.randint(1, side)
        cols = rng.randint(1, side)

        def place(rows=rows, cols=cols):
            turned = rng.random() < 0.25
            height, width = (cols, rows) if turned else (rows, cols)
            return rng.randrange(arrays + 1), (rng.randint(0, side - height), rng.randint(0, side - width)), (height, width), turned

        steps.append((rng.choice(["combine", "replace", "mix"]), place(), place(), rng.randint(1, 9), rng.random()))
    return side, arrays, steps


def overlaps(one, other):
    if one[0] != other[0]:
        return False
    return all(a < b + n and b < a + m for a, m, b, n in zip(one[1], one[2], other[1], other[2], strict=True))


def run(rt, seed):
    side, count, steps = draw(seed)
    steps = [step for step in steps if not overlaps(step[1], step[2])]
    values = np.random.default_rng(seed)
    arrays = [values.integers(-1000, 1000, (side, side)) for _ in range(count)]
    expected = Numpy([*[array.copy() for array in arrays], np.zeros((side, side), np.int64)])
    for kind, source, target, a, _ in steps:
        expected.step(kind, source, target, a)
    kernels = {"combine": combine, "replace": replace, "mix": mix}

    def program(o, arrays):
        tensors = [*arrays, o.alloc("i64", (side, side))]

        def view(place):
            which, start, size, turned = place
            tile = tensors[which].tile(start, size)
            return tile.transpose(0, 1) if turned else tile

        reads = []
        for kind, source, target, a, chance in steps:
            args = (view(source), view(target)) + (() if kind == "replace" else (a,))
            if chance < 0.2:
                with o.scope():
                    o.submit(kernels[kind], *args)
            elif chance < 0.4:
                o.submit_many(kernels[kind], [args])
            else:
                o.submit(kernels[kind], *args)
            if chance > 0.97:
                reads.append(o.read(tensors[0]))
        return o.read(tensors[-1])

    last = rt.run(program, arrays).result
    for found, wanted in zip([*arrays, last], expected.values, strict=True):
        assert np.array_equal(found, wanted), f"program {seed} on {rt.platform} with {rt.threads} threads"


@pytest.mark.parametrize("platform, threads", [("cpu", 1), ("cpu", 2), ("cpu", 4), ("a2a3sim", 0), ("a5sim", 0)])
def test_random_programs_give_the_bits_of_numpy(platform, threads):
    with np.errstate(over="ignore"), rl.Runtime(platform, threads=threads) as rt:
        for seed in range(PROGRAMS):
            run(rt, seed)
