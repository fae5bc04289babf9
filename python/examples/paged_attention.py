"""The scene `paged_attention` in Python: attention over contexts scattered over a pool of blocks, with kernels in C."""

import math

import numpy as np
import ringlane as rl
from rng import Rng, pieces

_MATRIX_IN, _MATRIX_OUT, _MATRIX = rl.In("f32", ndim=2), rl.Out("f32", ndim=2), rl.InOut("f32", ndim=2)
_VECTOR_IN, _VECTOR_OUT, _VECTOR = rl.In("f32"), rl.Out("f32"), rl.InOut("f32")

QK = rl.cc(
    r"""
    static float dot(const float *a, const float *b, size_t n) {
        float lanes[16] = {0}, rest = -0.0f, sum = -0.0f;
        size_t i = 0;
        for (; i + 16 <= n; i += 16)
            for (int lane = 0; lane < 16; lane++) lanes[lane] += a[i + lane] * b[i + lane];
        for (; i < n; i++) rest += a[i] * b[i];
        for (int lane = 0; lane < 16; lane++) sum += lanes[lane];
        return sum + rest;
    }

    void QK(const float *q, size_t q_dim1, size_t q_stride0, const float *k, size_t k_stride0,
            float *s, size_t s_dim0, size_t s_dim1, size_t s_stride0, float scale) {
        for (size_t i = 0; i < s_dim0; i++)
            for (size_t j = 0; j < s_dim1; j++)
                s[i * s_stride0 + j] = dot(q + i * q_stride0, k + j * k_stride0, q_dim1) * scale;
    }
    """,
    "QK",
    [_MATRIX_IN, _MATRIX_IN, _MATRIX_OUT, rl.f32],
    core="aic",
)
SOFTMAX = rl.cc(
    r"""
    #include <math.h>
    void SOFTMAX(float *s, size_t s_dim0, size_t s_dim1, size_t s_stride0, float *max, float *sum) {
        for (size_t i = 0; i < s_dim0; i++) {
            float *row = s + i * s_stride0, most = -INFINITY, total = -0.0f;
            for (size_t j = 0; j < s_dim1; j++) most = fmaxf(most, row[j]);
            for (size_t j = 0; j < s_dim1; j++) row[j] = expf(row[j] - most);
            for (size_t j = 0; j < s_dim1; j++) total += row[j];
            max[i] = most;
            sum[i] = total;
        }
    }
    """,
    "SOFTMAX",
    [_MATRIX, _VECTOR_OUT, _VECTOR_OUT],
)
PV = rl.cc(
    r"""
    void PV(const float *p, size_t p_dim1, size_t p_stride0, const float *v, size_t v_stride0,
            float *o, size_t o_dim0, size_t o_dim1, size_t o_stride0) {
        for (size_t i = 0; i < o_dim0; i++) {
            float *row = o + i * o_stride0;
            memset(row, 0, o_dim1 * sizeof(float));
            for (size_t j = 0; j < p_dim1; j++) {
                float weight = p[i * p_stride0 + j];
                for (size_t d = 0; d < o_dim1; d++) row[d] += weight * v[j * v_stride0 + d];
            }
        }
    }
    """,
    "PV",
    [_MATRIX_IN, _MATRIX_IN, _MATRIX_OUT],
    core="aic",
)
UPDATE = rl.cc(
    r"""
    #include <math.h>
    void UPDATE(const float *max, size_t max_n, const float *sum, const float *o, size_t o_stride0,
                float *running_max, float *running_sum, float *acc, size_t acc_dim1, size_t acc_stride0) {
        for (size_t i = 0; i < max_n; i++) {
            int empty = running_sum[i] == 0.0f;
            float joint = empty ? max[i] : fmaxf(running_max[i], max[i]);
            float before = empty ? 0.0f : expf(running_max[i] - joint), now = expf(max[i] - joint);
            running_max[i] = joint;
            running_sum[i] = before * running_sum[i] + now * sum[i];
            for (size_t d = 0; d < acc_dim1; d++)
                acc[i * acc_stride0 + d] = before * acc[i * acc_stride0 + d] + now * o[i * o_stride0 + d];
        }
    }
    """,
    "UPDATE",
    [_VECTOR_IN, _VECTOR_IN, _MATRIX_IN, _VECTOR, _VECTOR, _MATRIX],
)
NORMALISE = rl.cc(
    r"""
    void NORMALISE(const float *acc, size_t acc_dim1, size_t acc_stride0, const float *sum, size_t sum_n, float *out, size_t out_stride0) {
        for (size_t i = 0; i < sum_n; i++)
            for (size_t d = 0; d < acc_dim1; d++) out[i * out_stride0 + d] = acc[i * acc_stride0 + d] / sum[i];
    }
    """,
    "NORMALISE",
    [_MATRIX_IN, _VECTOR_IN, _MATRIX_OUT],
)

_SHAPE = {"batch": 4, "heads": 16, "query_tile": 16, "dim": 64, "block": 16, "context": 100}
CASES = {
    "small": {},
    "ragged": {"batch": 5, "heads": 7, "query_tile": 3, "dim": 33, "block": 13, "context": 171},
    "one": {"batch": 1, "heads": 1, "context": 1},
}

#: Blocks of keys in one scope, as in the scene.
_BLOCKS_PER_SCOPE = 8


def table(seed: int, batch: int, block: int, context: int) -> tuple[list[int], list[list[int]], int]:
    """Lengths of the contexts, the blocks of each in the pool, and the size of the pool."""
    rng = Rng(seed)
    lengths = [1 + rng.below(context) for _ in range(batch)]
    lengths[0] = 1
    if batch > 1:
        lengths[1] = context
    counts = [-(-length // block) for length in lengths]
    pool = sum(counts)
    free = list(range(pool))
    rng.shuffle(free)
    blocks = []
    for count in counts:
        blocks.append(free[len(free) - count :])
        free = free[: len(free) - count]
    return lengths, blocks, pool


def inputs(seed: int = 0, **params: int) -> dict:
    """The arrays of a case."""
    shape = {**_SHAPE, **params}
    _, _, pool = table(seed, shape["batch"], shape["block"], shape["context"])
    rows, dim, positions = shape["batch"] * shape["heads"], shape["dim"], pool * shape["block"]
    rng = Rng(seed ^ 0xFFFFFFFFFFFFFFFF)
    queries = rng.signed(rows * dim) * np.float32(4)
    return {
        "queries": queries.reshape(rows, dim),
        "keys": rng.signed(positions * dim).reshape(positions, dim),
        "values": rng.signed(positions * dim).reshape(positions, dim),
        "out": np.zeros((rows, dim), np.float32),
    }


def orchestrate(o: rl.Orch, t: dict, seed: int = 0, **params: int) -> None:
    """Attention of one position of each sequence over its context."""
    shape = {**_SHAPE, **params}
    dim, block = shape["dim"], shape["block"]
    lengths, blocks, _ = table(seed, shape["batch"], block, shape["context"])
    scale = float(np.float32(1) / np.sqrt(np.float32(dim)))
    for sequence, (length, own) in enumerate(zip(lengths, blocks)):
        for head, rows in pieces(shape["heads"], shape["query_tile"]):
            first = sequence * shape["heads"] + head
            with o.scope():
                queries = t["queries"].slice(0, first, rows)
                all_max, all_sum, acc = o.alloc("f32", rows), o.alloc("f32", rows), o.alloc("f32", (rows, dim))
                steps = [(number, min(block, length - i * block)) for i, number in enumerate(own)]
                for at in range(0, len(steps), _BLOCKS_PER_SCOPE):
                    with o.scope():
                        for number, held in steps[at : at + _BLOCKS_PER_SCOPE]:
                            keys, values = (t[name].slice(0, number * block, held) for name in ("keys", "values"))
                            s = o.submit(QK, queries, keys, rl.out("f32", (rows, held)), scale).out()
                            softmax = o.submit(SOFTMAX, s, rl.out("f32", rows), rl.out("f32", rows))
                            part = o.submit(PV, s, values, rl.out("f32", (rows, dim))).out()
                            o.submit(UPDATE, softmax.out(0), softmax.out(1), part, all_max, all_sum, acc)
                o.submit(NORMALISE, acc, all_sum, t["out"].slice(0, first, rows))


def golden(arrays: dict, seed: int = 0, **params: int) -> dict:
    """The plain formula in float64."""
    shape = {**_SHAPE, **params}
    heads, block = shape["heads"], shape["block"]
    lengths, blocks, _ = table(seed, shape["batch"], block, shape["context"])
    result = np.empty(arrays["out"].shape)
    for sequence, (length, own) in enumerate(zip(lengths, blocks)):
        at = [own[i // block] * block + i % block for i in range(length)]
        keys, values = arrays["keys"][at].astype(np.float64), arrays["values"][at].astype(np.float64)
        queries = arrays["queries"][sequence * heads : (sequence + 1) * heads].astype(np.float64)
        scores = queries @ keys.T / math.sqrt(shape["dim"])
        weights = np.exp(scores - scores.max(axis=1, keepdims=True))
        result[sequence * heads : (sequence + 1) * heads] = weights / weights.sum(axis=1, keepdims=True) @ values
    return {"out": result}


if __name__ == "__main__":
    arrays = inputs()
    expected = golden(arrays)["out"]
    with rl.Runtime("cpu") as rt:
        run = rt.run(orchestrate, arrays)
    assert np.abs(arrays["out"] - expected).max() < 2e-5
    print(run)
