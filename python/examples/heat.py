"""The scene `heat` in Python: a five-point stencil over time steps, on tiles with halos, with a kernel in C."""

import numpy as np
import ringlane as rl
from rng import Rng, pieces

DIFFUSE = rl.cc(
    r"""
    #include <stdlib.h>

    // The columns from..to of row i after one step. The outermost cells of a view stay as they are.
    static void step_row(const float *rows, size_t stride, size_t height, size_t width, size_t i, size_t from, size_t to, float *result) {
        const float *row = rows + i * stride;
        memcpy(result, row + from, (to - from) * sizeof(float));
        if (i == 0 || i + 1 == height) return;
        size_t first = from > 1 ? from : 1, last = to < width - 1 ? to : width - 1;
        for (size_t j = first; j < last; j++) {
            float cell = result[j - from];
            result[j - from] = cell + 0.125f * ((row[j - stride] + row[j + stride]) + (row[j - 1] + row[j + 1]) - 4.0f * cell);
        }
    }

    static size_t less(size_t a, size_t b) { return a > b ? a - b : 0; }
    static size_t least(size_t a, size_t b) { return a < b ? a : b; }

    // Advances a tile by some steps. The view is the tile, at (top, left), with a halo of as many cells as steps.
    int DIFFUSE(const float *view, size_t view_dim0, size_t view_dim1, size_t view_stride0,
                float *tile, size_t tile_dim0, size_t tile_dim1, size_t tile_stride0,
                uint32_t top, uint32_t left, uint32_t steps) {
        size_t height = view_dim0, width = view_dim1, stride = view_stride0;
        const float *rows = view;
        float *now = NULL, *next = NULL;
        if (steps > 1) {
            now = malloc(height * width * sizeof(float));
            next = malloc(height * width * sizeof(float));
            if (!now || !next) return 1;
            for (size_t i = 0; i < height; i++) memcpy(now + i * width, view + i * view_stride0, width * sizeof(float));
            memcpy(next, now, height * width * sizeof(float));
            for (uint32_t margin = steps - 1; margin >= 1; margin--) {
                size_t from = less(left, margin), to = least(left + tile_dim1 + margin, width);
                for (size_t i = less(top, margin); i < least(top + tile_dim0 + margin, height); i++)
                    step_row(now, width, height, width, i, from, to, next + i * width + from);
                float *swap = now; now = next; next = swap;
            }
            rows = now;
            stride = width;
        }
        for (size_t i = 0; i < tile_dim0; i++)
            step_row(rows, stride, height, width, top + i, left, left + tile_dim1, tile + i * tile_stride0);
        free(now);
        free(next);
        return 0;
    }
    """,
    "DIFFUSE",
    [rl.In("f32", ndim=2), rl.Out("f32", ndim=2), rl.u32, rl.u32, rl.u32],
)

CASES = {"small": {}, "ragged": {"n": 101, "steps": 11, "tile": 28, "halo": 3}, "wide": {"n": 64, "steps": 50, "tile": 8, "halo": 20}}

#: Tasks in one scope, as in the scene.
_TASKS_PER_SCOPE = 32


def inputs(seed: int = 0, n: int = 128, steps: int = 8, tile: int = 32, halo: int = 1) -> dict:
    """The arrays of a case."""
    return {"from": Rng(seed).signed(n * n).reshape(n, n), "to": np.zeros((n, n), np.float32)}


def _grown(start: int, size: int, margin: int, n: int) -> tuple[int, int]:
    return max(start - margin, 0), min(start + size + margin, n)


def orchestrate(o: rl.Orch, t: dict, n: int = 128, steps: int = 8, tile: int = 32, halo: int = 1) -> None:
    """Sweeps over the tiles; the two arrays change places after each."""
    source, target = t["from"], t["to"]
    tiles = [(rows, cols) for rows in pieces(n, tile) for cols in pieces(n, tile)]
    for _, now in pieces(steps, halo):
        for first in range(0, len(tiles), _TASKS_PER_SCOPE):
            with o.scope():
                for (i, rows), (j, cols) in tiles[first : first + _TASKS_PER_SCOPE]:
                    (top, bottom), (left, right) = _grown(i, rows, now, n), _grown(j, cols, now, n)
                    view = source.tile((top, left), (bottom - top, right - left))
                    o.submit(DIFFUSE, view, target.tile((i, j), (rows, cols)), i - top, j - left, now)
        source, target = target, source


def golden(arrays: dict, n: int = 128, steps: int = 8, tile: int = 32, halo: int = 1) -> dict:
    """The whole grid with NumPy, step by step, in the same order of operations."""
    grid = arrays["from"].copy()
    for _ in range(steps):
        inner = grid[1:-1, 1:-1]
        around = (grid[:-2, 1:-1] + grid[2:, 1:-1]) + (grid[1:-1, :-2] + grid[1:-1, 2:]) - np.float32(4) * inner
        grid[1:-1, 1:-1] = inner + np.float32(0.125) * around
    return {"to" if -(-steps // halo) % 2 else "from": grid}


if __name__ == "__main__":
    arrays = inputs()
    expected = golden(arrays)
    with rl.Runtime("cpu") as rt:
        run = rt.run(orchestrate, arrays)
    assert all(np.array_equal(arrays[name], grid) for name, grid in expected.items())
    print(run)
