"""Memory that arrays show: it stays as long as they do, also where a program forgets them or a kernel keeps them."""

from __future__ import annotations

import gc
import weakref

import numpy as np
import pytest
import ringlane as rl

#: Numbers of an array that the C library gives back to the system at once, so that reading it afterwards ends the process.
LARGE = 5 << 20


@rl.kernel
def increase(x: rl.InOut):
    x += 1


def test_a_kernel_that_keeps_its_array_fails_and_the_array_stays_readable(rt):
    kept = []

    @rl.kernel
    def keep(x: rl.Out):
        x[...] = 5
        kept.append(x[1:])

    with pytest.raises(rl.errors.TaskFailed, match="kept an array"):
        rt.run(lambda o: o.submit(keep, rl.out("f32", 1 << 16)) and None)
    rt.close()
    gc.collect()
    assert kept[0].shape == ((1 << 16) - 1,) and np.isfinite(kept[0].sum())


def test_the_array_of_the_caller_that_a_kernel_keeps_stays_readable(cpu):
    kept = []

    @rl.kernel
    def keep(x: rl.InOut):
        x += 1
        kept.append(x[1:])

    x = np.zeros(LARGE)
    alive = weakref.ref(x)
    with pytest.raises(rl.errors.TaskFailed, match="kept an array"):
        cpu.run(lambda o, x: o.submit(keep, x) and None, x)
    del x
    gc.collect()
    assert alive() is not None and kept[0].sum() == LARGE - 1


def test_the_array_of_a_graph_that_a_kernel_keeps_stays_readable(cpu):
    kept = []

    @rl.kernel
    def keep(x: rl.Out):
        x[...] = 1
        kept.append(x)

    graph = cpu.capture(lambda o: o.submit(keep, rl.out("f64", LARGE)) and None)
    with pytest.raises(rl.errors.TaskFailed, match="kept an array"):
        cpu.replay(graph)
    del graph
    gc.collect()
    assert kept[0].sum() == LARGE


def test_arrays_whose_last_name_goes_away_in_the_run_are_kept_until_its_end(rt):
    arrays = [np.zeros(LARGE // 8), np.ones(LARGE // 8)]
    alive = [weakref.ref(array) for array in arrays]

    def program(o, given):
        arrays.clear()
        o.submit(increase, given[0])
        gc.collect()
        assert all(one() is not None for one in alive)
        return o.read(given[0]).sum() + o.read(given[1]).sum()

    assert rt.run(program, arrays).result == 2 * (LARGE // 8)
    gc.collect()
    assert all(one() is None for one in alive)


def test_buffers_cannot_change_their_size_in_a_run(cpu):
    data = bytearray(8)

    def program(o, x):
        with pytest.raises(BufferError):
            data.extend(b"more")
        o.submit(increase, x)

    cpu.run(program, data)
    data.extend(b"more")
    assert data == b"\x01" * 8 + b"more"


def test_cycles_of_a_kernel_are_not_kept_arrays(cpu):
    @rl.kernel
    def cyclic(x: rl.InOut):
        cycle = [x]
        cycle.append(cycle)
        x += 1

    x = np.zeros(2)
    cpu.run(lambda o, x: o.submit(cyclic, x) and None, x)
    assert x.tolist() == [1, 1]
