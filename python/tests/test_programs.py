"""Programs: kernels of every kind, orchestrations, results."""

from __future__ import annotations

import ctypes
import threading
import time

import numpy as np
import pytest
import ringlane as rl


@rl.kernel
def axpy(x: rl.In, y: rl.InOut, a: float):
    y += a * x


@rl.kernel(core="any")
def fill(y: rl.Out("f32"), value: rl.f32):
    y[...] = value


scale = rl.cc(
    "void scale(const float *x, float *y, size_t n, float a) { for (size_t i = 0; i < n; i++) y[i] = a * x[i]; }",
    "scale",
    [rl.In("f32"), rl.Out("f32"), rl.f32],
)


def test_the_program_of_the_design_gives_what_it_says(rt):
    def program(o, x, y):
        t = o.submit(scale, x, rl.out("f32", x.shape), 2.0).out(0)
        for i in range(4):
            with o.scope(f"step {i}"):
                o.submit(axpy, t.tile((i * 4096,), (4096,)), y.tile((i * 4096,), (4096,)), 1.0)
        return o.read(y)

    x, y = np.arange(16384, dtype=np.float32), np.ones(16384, np.float32)
    run = rt.run(program, x, y)
    assert np.array_equal(y, 1 + 2 * x)
    assert np.array_equal(run.result, y)
    assert run.status == "ok" and run.tasks_submitted == 5 and run.makespan > 0


def test_nothing_is_copied_on_the_way_into_a_kernel(cpu):
    seen = []

    @rl.kernel
    def look(x: rl.InOut):
        seen.append(x.ctypes.data)
        x[1] = 7

    x = np.zeros(4, np.int64)
    cpu.run(lambda o, x: o.submit(look, x) and None, x)
    assert seen == [x.ctypes.data] and x.tolist() == [0, 7, 0, 0]


def test_strided_arrays_are_used_in_place(rt):
    base = np.arange(48, dtype=np.float64).reshape(6, 8)
    columns, expected = base[:, ::2], base.copy()
    rt.run(lambda o, y: o.submit(axpy, y.tile((0, 0), (6, 2)), y.tile((0, 2), (6, 2)), 10.0) and None, columns)
    expected[:, ::2][:, 2:] += 10 * expected[:, ::2][:, :2]
    assert np.array_equal(base, expected)


def test_views_are_those_of_numpy(rt):
    @rl.kernel
    def copy(x: rl.In, y: rl.Out):
        y[...] = x

    x = np.arange(24, dtype=np.int32).reshape(2, 3, 4)

    def program(o, x):
        def values(view):
            return o.read(o.submit(copy, view, rl.out("i32", view.shape)).out())

        return [
            values(x.tile((0, 1, 1), (2, 2, 3))),
            values(x.slice(1, 1, 2)),
            values(x.select(0, 1)),
            values(x.transpose(0, 2)),
            values(x.reshape((6, 4))),
            values(x.select(0, 0).broadcast(3)),
        ]

    found = rt.run(program, x).result
    expected = [x[0:2, 1:3, 1:4], x[:, 1:3], x[1], x.transpose(2, 1, 0), x.reshape(6, 4), np.broadcast_to(x[0], (3, 3, 4))]
    for one, other in zip(found, expected, strict=True):
        assert np.array_equal(one, other)


def test_scalars_arrive_as_the_type_that_is_declared(rt):
    seen = []

    @rl.kernel
    def note(y: rl.Out, a: float, b: int, c: bool, d: rl.f32, e: rl.u8, f: rl.f16):
        seen.append((a, b, c, d, e, f))
        y[...] = 1

    rt.run(lambda o: o.submit(note, rl.out("f32", 1), 0.1, -(1 << 60), True, 0.1, 255, 0.5) and None)
    assert seen == [(0.1, -(1 << 60), True, float(np.float32(0.1)), 255, 0.5)]


def test_any_number_of_tensors_and_the_index_of_the_block(rt):
    @rl.kernel
    def total(y: rl.Out, block: rl.Block, *parts: rl.In):
        y[...] = sum(parts) + block[0] * 100 + block[1]

    def program(o, x):
        return o.read(o.submit(total, rl.out("i64", 4).split(0), *[x.select(0, i) for i in range(3)], blocks=1).out())

    x = np.arange(12, dtype=np.int64).reshape(3, 4)
    assert rt.run(program, x).result.tolist() == (x.sum(axis=0) + 1).tolist()

    @rl.kernel
    def place(y: rl.Out, block: rl.Block):
        y[...] = block[0] * 10 + block[1]

    def split(o):
        return o.read(o.submit(place, rl.out("i64", 4).split(0), blocks=2).out())

    assert rt.run(split).result.tolist() == [2, 2, 12, 12]


def test_explicit_edges_barriers_labels_uploads_and_allocations(rt):
    order = []

    @rl.kernel
    def note(y: rl.Out, number: int):
        order.append(number)
        y[...] = number

    def program(o):
        last = o.submit(note, rl.out("f32", 1), 0, label="first")
        for number in range(1, 5):
            last = o.submit(note, rl.out("f32", 1), number, after=[last])
        o.barrier()
        o.submit(note, rl.out("f32", 1), 5)
        t = o.upload(np.arange(4, dtype=np.int16).reshape(2, 2))
        return o.read(t.transpose(0, 1)), o.read(o.alloc("f64", 3))

    transposed, zeros = rt.run(program).result
    assert order == list(range(6))
    assert transposed.tolist() == [[0, 2], [1, 3]] and transposed.dtype == np.int16
    assert zeros.tolist() == [0, 0, 0]


def test_submit_many_does_what_a_loop_does(rt):
    x = np.arange(64, dtype=np.float32)
    y = np.zeros(64, np.float32)

    def program(o, x, y):
        tasks = o.submit_many(scale, [(x.slice(0, i, 8), y.slice(0, i, 8), 3.0) for i in range(0, 64, 8)])
        made = o.submit_many(fill, [(rl.out("f32", 2), float(i)) for i in range(3)])
        return len(tasks), [o.read(one.out()).tolist() for one in made]

    assert rt.run(program, x, y).result == (8, [[0, 0], [1, 1], [2, 2]])
    assert np.array_equal(y, 3 * x)


def test_a_mixed_task_runs_two_kernels(rt):
    cube = rl.cc("void cube(const float *x, float *y, size_t n) { for (size_t i = 0; i < n; i++) y[i] = x[i]*x[i]*x[i]; }",
                 "cube", [rl.In("f32"), rl.Out("f32")], core="aic")
    x = np.arange(4, dtype=np.float32)

    def program(o, x):
        made = o.submit((cube, scale), x, rl.out("f32", 4), x, rl.out("f32", 4), 2.0)
        return [o.read(one).tolist() for one in made.outs]

    assert rt.run(program, x).result == [(x**3).tolist(), (2 * x).tolist()]


def of_ctypes():
    doubles = ctypes.POINTER(ctypes.c_double)
    return ctypes.CFUNCTYPE(None, doubles, doubles, ctypes.c_size_t, ctypes.c_double)


def of_cffi():
    return pytest.importorskip("cffi").FFI().callback("void(double *, double *, size_t, double)")


def of_numba():
    return pytest.importorskip("numba").cfunc("void(CPointer(double), CPointer(double), uintp, double)")


def an_address():
    made = of_ctypes()
    return lambda function: KEPT.append(made(function)) or ctypes.cast(KEPT[-1], ctypes.c_void_p).value


KEPT: list[object] = []


@pytest.mark.parametrize("made", [of_ctypes, of_cffi, of_numba, an_address])
def test_functions_by_their_address(rt, made):
    declaration = "void axpy(const double *x, double *y, size_t n, double a)"

    @made()
    def compiled(x, y, n, a):
        for i in range(n):
            y[i] += a * x[i]

    kernel = rl.function(compiled, declaration, [rl.In("f64"), rl.InOut("f64"), rl.f64])
    x, y = np.arange(5.0), np.ones(5)
    rt.run(lambda o, x, y: o.submit(kernel, x, y, 2.0) and None, x, y)
    assert np.array_equal(y, 1 + 2 * x)


def test_functions_of_a_shared_library(rt, tmp_path):
    import subprocess

    source, library = tmp_path / "mine.c", tmp_path / "libmine.so"
    source.write_text("#include <stddef.h>\nint twice(int *x, size_t n) { for (size_t i = 0; i < n; i++) x[i] *= 2; return x[0] == 8; }\n")
    subprocess.run(["cc", "-shared", "-fPIC", "-o", library, source], check=True)
    twice = rl.load(library).kernel("int twice(int *x, size_t n)", [rl.InOut("i32")])
    assert rl.load(library).kernel("int twice(int *x, size_t n)", [rl.InOut("i32")]) is twice
    x = np.arange(1, 5, dtype=np.int32)
    program = lambda o, x: o.submit(twice, x) and None  # noqa: E731
    rt.run(program, x)
    rt.run(program, x)
    assert x.tolist() == [4, 8, 12, 16]
    with pytest.raises(rl.errors.TaskFailed, match="the kernel returned 1"):
        rt.run(program, x)


def test_a_captured_graph_is_replayed_with_other_values(rt):
    def program(o, x, y):
        o.submit(scale, x, y, rl.param("a", 2.0))

    x, y = np.arange(8, dtype=np.float32), np.zeros(8, np.float32)
    graph = rt.capture(program, x, y)
    assert graph.tasks == 1 and not y.any()
    rt.replay(graph, x, y)
    assert np.array_equal(y, 2 * x)
    graph.set("a", 5.0)
    other = np.zeros(8, np.float32)
    rt.replay(graph, x, other)
    assert np.array_equal(other, 5 * x)
    with pytest.raises(rl.errors.UnknownParam):
        graph.set("b", 1.0)
    with pytest.raises(rl.errors.BufferMismatch):
        rt.replay(graph, x, np.zeros(9, np.float32))


def test_arrays_in_containers_and_other_arguments_are_passed_on(cpu):
    def program(o, arrays, names, number):
        o.submit(axpy, arrays["x"], arrays["more"][0], float(number))
        return names

    x, y = np.ones(3), np.zeros(3)
    assert cpu.run(program, {"x": x, "more": [y]}, ("a", "b"), 4).result == ("a", "b")
    assert y.tolist() == [4, 4, 4]


def test_buffers_that_are_no_numpy_arrays_are_used_in_place(cpu):
    import array

    one, two = array.array("d", [1, 2, 3]), bytearray(8)

    @rl.kernel
    def increase(x: rl.InOut):
        x += 1

    cpu.run(lambda o, a, b: (o.submit(increase, a), o.submit(increase, b)) and None, one, two)
    assert one.tolist() == [2, 3, 4] and two == b"\x01" * 8


def test_a_torch_tensor_goes_in_and_comes_out_without_a_copy(cpu):
    torch = pytest.importorskip("torch")
    x = torch.arange(6, dtype=torch.float32).reshape(2, 3)
    cpu.run(lambda o, x: o.submit(axpy, x, o.alloc("f32", (2, 3)), 1.0) and o.submit(fill, x, 9.0) and None, x)
    assert (x == 9).all()


class Dlpack:
    """A producer of DLPack that is nothing else."""

    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **options):
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


def test_a_producer_of_dlpack_is_used_in_place(cpu):
    x = np.zeros(4, np.float32)
    cpu.run(lambda o, x: o.submit(fill, x, 3.0) and None, Dlpack(x))
    assert x.tolist() == [3, 3, 3, 3]


def test_bfloat16_arrives_as_its_bits(cpu):
    bits = np.array([0x3F80, 0x4000], np.uint16)

    @rl.kernel
    def swap(x: rl.InOut("bf16")):
        x[...] = x[::-1].copy()

    cpu.run(lambda o, x: o.submit(swap, x) and x.dtype, rl.typed(bits, "bf16"))
    assert bits.tolist() == [0x4000, 0x3F80]


def test_other_threads_run_while_kernels_in_c_and_waits_do(cpu):
    wait = rl.cc("#include <unistd.h>\nvoid wait_a_bit(float *y) { usleep(200000); y[0] = 1; }", "wait_a_bit", [rl.Out("f32")])
    counted, stop = [0], threading.Event()

    def count():
        while not stop.is_set():
            counted[0] += 1
            time.sleep(0.001)

    thread = threading.Thread(target=count)
    thread.start()
    try:
        before = counted[0]
        cpu.run(lambda o: o.read(o.submit(wait, rl.out("f32", 1)).out()))
        assert counted[0] - before > 20
    finally:
        stop.set()
        thread.join()


def test_a_kernel_can_be_called_as_the_function_that_it_is():
    x, y = np.ones(3), np.ones(3)
    axpy(x, y, 2.0)
    assert y.tolist() == [3, 3, 3] and axpy.name == "axpy" and axpy.core == "aiv"


def test_a_cost_is_what_a_block_takes_on_a_modelled_chip():
    @rl.kernel(cost=50e-6)
    def constant(y: rl.Out):
        y[...] = 1

    @rl.kernel(cost=lambda shape, seconds: shape[0] * seconds)
    def computed(y: rl.Out, seconds: float):
        y[...] = 1

    with rl.Runtime("a2a3sim") as rt:
        assert 50e-6 <= rt.run(lambda o: o.submit(constant, rl.out("f32", 1)) and None).makespan < 100e-6
        assert 400e-6 <= rt.run(lambda o: o.submit(computed, rl.out("f32", 4), 100e-6) and None).makespan < 450e-6


@pytest.mark.parametrize("platform", ["cpu", "a2a3sim", "a5sim"])
def test_a_scene_of_ringlane_runs(platform):
    with rl.Runtime(platform, threads=2 if platform == "cpu" else 0) as rt:
        assert rt.scene("vector", "small").result is None
        assert rt.scene("paged_attention", params={"batch": 2}).result is None
