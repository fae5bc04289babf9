"""The scene `vector` in Python: a diamond of five tasks, with kernels in C."""

import numpy as np
import ringlane as rl
from rng import Rng, pieces

_VECTORS = [rl.In("f32"), rl.In("f32"), rl.Out("f32")]

VECTOR_ADD = rl.cc(
    "void VECTOR_ADD(const float *a, const float *b, float *c, size_t n) { for (size_t i = 0; i < n; i++) c[i] = a[i] + b[i]; }",
    "VECTOR_ADD",
    _VECTORS,
)
VECTOR_SHIFT = rl.cc(
    "void VECTOR_SHIFT(const float *x, float *y, size_t n, float s) { for (size_t i = 0; i < n; i++) y[i] = x[i] + s; }",
    "VECTOR_SHIFT",
    [rl.In("f32"), rl.Out("f32"), rl.f32],
)
VECTOR_MUL = rl.cc(
    "void VECTOR_MUL(const float *a, const float *b, float *c, size_t n) { for (size_t i = 0; i < n; i++) c[i] = a[i] * b[i]; }",
    "VECTOR_MUL",
    _VECTORS,
)

CASES = {"small": {}, "one": {"n": 1}, "chunked": {"n": 100003, "chunks": 7}}


def inputs(seed: int = 0, n: int = 16384, chunks: int = 1) -> dict:
    """The arrays of a case, in the order in which the scene lends them."""
    rng = Rng(seed)
    a, b = rng.signed(n), rng.signed(n)
    return {"out": np.zeros(n, np.float32), "a": a, "b": b}


def orchestrate(o: rl.Orch, t: dict, n: int = 16384, chunks: int = 1) -> None:
    """out = (f + 1)·(f + 2) + f with f = a + b."""
    for start, size in pieces(n, -(-n // chunks)):
        a, b, result = (t[name].slice(0, start, size) for name in ("a", "b", "out"))
        f = o.submit(VECTOR_ADD, a, b, rl.out("f32", size)).out()
        with o.scope():
            g = o.submit(VECTOR_SHIFT, f, rl.out("f32", size), 1.0).out()
            h = o.submit(VECTOR_SHIFT, f, rl.out("f32", size), 2.0).out()
            i = o.submit(VECTOR_MUL, g, h, rl.out("f32", size)).out()
            o.submit(VECTOR_ADD, i, f, result)


def golden(arrays: dict, n: int = 16384, chunks: int = 1) -> dict:
    """The same with NumPy, in the same order of operations."""
    f = arrays["a"] + arrays["b"]
    return {"out": (f + np.float32(1)) * (f + np.float32(2)) + f}


if __name__ == "__main__":
    arrays = inputs()
    expected = golden(arrays)["out"]
    with rl.Runtime("cpu") as rt:
        run = rt.run(orchestrate, arrays)
    assert np.array_equal(arrays["out"], expected)
    print(run)
