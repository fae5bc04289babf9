"""Arguments of a wrong kind: each is refused by name, before a task runs, and the runtime goes on."""

from __future__ import annotations

import ctypes
import mmap
import os

import numpy as np
import pytest
import ringlane as rl


@rl.kernel
def increase(x: rl.InOut):
    x += 1


@rl.kernel
def scaled(x: rl.InOut, a: float):
    x *= a


SUBMITS = {
    "a tuple of no kernels": (rl.errors.BadLaunch, lambda o, x: o.submit((1, 2), x)),
    "an empty tuple": (rl.errors.BadLaunch, lambda o, x: o.submit((), x)),
    "explicit edges to a tensor": (rl.errors.BadLaunch, lambda o, x: o.submit(increase, x, after=[x])),
    "blocks as text": (rl.errors.BadLaunch, lambda o, x: o.submit(increase, x, blocks="2")),
    "negative blocks": (rl.errors.BadLaunch, lambda o, x: o.submit(increase, x, blocks=-1)),
    "marks as text": (rl.errors.BadLaunch, lambda o, x: o.submit(increase, x, dump="x")),
    "many of a plain function": (rl.errors.BadLaunch, lambda o, x: o.submit_many(len, [(x,)])),
    "many without tuples": (rl.errors.BadLaunch, lambda o, x: o.submit_many(increase, [x, x])),
    "a negative start": (rl.errors.BadSize, lambda o, x: x.slice(0, -1, 2)),
    "a negative axis": (rl.errors.BadSize, lambda o, x: x.slice(-1, 0, 2)),
    "an axis as text": (rl.errors.BadSize, lambda o, x: x.select("0", 0)),
    "an axis that no tensor has": (rl.errors.BadSplit, lambda o, x: o.submit(increase, x.split(300), blocks=2)),
    "the same of the largest byte": (rl.errors.BadSplit, lambda o, x: o.submit(increase, x.split(255), blocks=2)),
    "a read of a task": (rl.errors.NotATensor, lambda o, x: o.read(o.submit(increase, x))),
    "an upload of uneven rows": (rl.errors.BadArray, lambda o, x: o.upload([[1], [1, 2]])),
    "the end of the runtime in its run": (rl.errors.RuntimeInUse, lambda o, x: RT[0].close()),
}

RT: list[rl.Runtime] = []


@pytest.mark.parametrize("what", SUBMITS)
def test_an_argument_of_the_wrong_kind_is_refused_by_name(cpu, what):
    expected, program = SUBMITS[what]
    RT[:] = [cpu]
    x = np.zeros(4)
    with pytest.raises(expected) as caught:
        cpu.run(lambda o, t: program(o, t) and None, x)
    assert caught.value.hint
    x[:] = 0
    cpu.run(lambda o, t: o.submit_many(increase, [[t], (t,)]) and o.submit(increase, t, after=o.barrier()) and None, x)
    assert x.tolist() == [3] * 4


async def asynchronous(o, x):
    o.submit(increase, x)


def generating(o, x):
    yield o.submit(increase, x)


@pytest.mark.parametrize("program", [asynchronous, generating])
def test_a_program_that_a_call_does_not_execute_is_refused(cpu, program):
    x = np.zeros(4)
    for begin in (cpu.run, cpu.capture):
        with pytest.raises(rl.errors.NotAnOrchestration, match=program.__name__):
            begin(program, x)
    cpu.run(lambda o, t: o.submit(increase, t) and None, x)
    assert x.tolist() == [1] * 4


def test_details_do_not_name_source_lines_of_the_extension_module(cpu):
    @rl.kernel
    def fail(x: rl.InOut):
        raise ValueError("no such value")

    with pytest.raises(rl.errors.TaskFailed) as caught:
        cpu.run(lambda o, x: o.submit(fail, x, label="third") and None, np.zeros(2))
    assert caught.value.detail.startswith('task 0:0 (fail "third"): ValueError: no such value'), caught.value.detail
    with pytest.raises(rl.errors.ArgCount) as refused:
        cpu.run(lambda o, x: o.submit(fail, x, x) and None, np.zeros(2))
    assert refused.value.detail == "fail takes 1 arguments, but the submit has 2"


@pytest.mark.parametrize("name", ["ndim", "contiguous"])
def test_a_parameter_of_any_type_can_ask_for_a_rank_and_for_contiguous_elements(rt, name):
    declared = rl.InOut(ndim=2) if name == "ndim" else rl.InOut(contiguous=True)
    kernel = rl.kernel(params=[declared])(lambda x: x.fill(1))
    good, bad = np.zeros((2, 2), np.int16), (np.zeros(4) if name == "ndim" else np.zeros((2, 4))[:, ::2])
    rt.run(lambda o, x: o.submit(kernel, x) and None, good)
    assert good.all()
    with pytest.raises(rl.errors.ArgRank if name == "ndim" else rl.errors.NotContiguous):
        rt.run(lambda o, x: o.submit(kernel, x) and None, bad)


def test_a_pointer_to_elements_of_another_type_is_refused():
    def declares(c, dtype):
        return rl.cc(f"typedef float mine; void f({c}x) {{ }}", "f", [rl.InOut(dtype)])

    wrong = [("double *", "f32"), ("float *", "f64"), ("int *", "i64"), ("long *", "i32"), ("float **", "f32"), ("int32_t *", "f32"), ("float *", "bf16")]
    for c, dtype in wrong:
        with pytest.raises(rl.errors.BadKernel, match="is declared as"):
            declares(c, dtype)
    right = [("float *restrict ", "f32"), ("unsigned char *", "i8"), ("volatile uint16_t *", "bf16"), ("void *", "f64"), ("mine *", "f32"), ("size_t *", "u64")]
    for c, dtype in right:
        declares(c, dtype)


@pytest.mark.parametrize("before", ["#define N 4\n", "#define DO(x) \\\n  x\n", "#include <math.h>\n", "// f(int)\n", "#if 1\n#endif\nstatic "])
def test_lines_before_a_function_are_not_part_of_it(before, cpu):
    kernel = rl.cc(f"{before}void f(float *x, size_t n) {{ for (size_t i = 0; i < n; i++) x[i] = 1; }}", "f", [rl.Out("f32")])
    x = np.zeros(2, np.float32)
    cpu.run(lambda o, x: o.submit(kernel, x) and None, x)
    assert x.tolist() == [1, 1]


def test_more_declarations_of_kernels_are_refused():
    cases = [
        lambda: rl.kernel(5),
        lambda: rl.kernel(int),
        lambda: rl.kernel(cost="1 µs", params=[rl.In])(lambda x: None),
        lambda: rl.cc("void f(float *x) { }", "f", [rl.Out("f32")], cost="1 µs"),
        lambda: rl.cc("void f(float *x) { }", "f", None),
        lambda: rl.cc(b"void f(float *x) { }", "f", [rl.Out("f32")]),
        lambda: rl.In("f32", ndim=99),
        lambda: rl.In(ndim="two"),
    ]
    for declare in cases:
        with pytest.raises(rl.errors.BadKernel) as caught:
            declare()
        assert caught.value.hint


def test_c_that_calls_a_function_that_is_not_there_is_refused(monkeypatch, tmp_path):
    monkeypatch.setenv("RINGLANE_CACHE", str(tmp_path))
    with pytest.raises(rl.errors.CannotLoad, match="no_such_function"):
        rl.cc("void no_such_function(float *); void f(float *x) { no_such_function(x); }", "f", [rl.Out("f32")])


def test_a_masked_array_is_refused_and_other_buffers_are_used_in_place(cpu):
    run = lambda x: cpu.run(lambda o, x: o.submit(increase, x) and None, x)  # noqa: E731
    with pytest.raises(rl.errors.BadArray, match="mask"):
        run(np.ma.masked_array([1.0, 2.0], [0, 1]))
    with pytest.raises(rl.errors.BadArray, match="repeat"):
        run(np.lib.stride_tricks.as_strided(np.zeros(2), (4,), (0,)))
    numbers, mapped = (ctypes.c_double * 3)(1, 2, 3), mmap.mmap(-1, 4)
    run(numbers)
    run(mapped)
    assert list(numbers) == [2, 3, 4] and mapped[:] == b"\x01" * 4


@pytest.mark.parametrize("value", ["text", None, 1 << 200, 1.5])
def test_a_value_of_a_graph_is_refused_if_it_does_not_fit(cpu, value):
    note = rl.kernel(params=[rl.Out, rl.i32])(lambda y, a: y.fill(a))
    graph = cpu.capture(lambda o, y: o.submit(note, y, rl.param("a", 1)) and None, np.zeros(2))
    with pytest.raises(rl.errors.BadScalar):
        graph.set("a", value)
    y = np.zeros(2)
    graph.set("a", -7)
    cpu.replay(graph, y)
    assert y.tolist() == [-7, -7]


@pytest.mark.parametrize("record", [5, {"pmu": "x"}, {"swimlane": 9}, ["swim"]])
def test_what_cannot_be_recorded_is_refused(cpu, tmp_path, record):
    with pytest.raises(rl.errors.BadValue):
        cpu.run(lambda o: None, record=record, output=tmp_path / "run")


@pytest.mark.parametrize("option", [{"policy": "fifo"}, {"chaos": 3}, {"chip_file": "mine.toml"}])
def test_options_of_modelled_chips_are_refused_elsewhere(option):
    with pytest.raises(rl.errors.OnlyOnSimulators, match=next(iter(option))):
        rl.Runtime("cpu", **option)


@pytest.mark.parametrize("options", [{"platform": 5}, {"ring_heap": [1, 2, 3]}, {"chaos": "x", "platform": "a2a3sim"}])
def test_more_options_that_cannot_be_are_refused(options):
    with pytest.raises(rl.errors.BadValue):
        rl.Runtime(**options)


def test_the_orchestrator_is_refused_in_a_child_of_fork(cpu):
    def program(o, x):
        child = os.fork()
        if child == 0:
            try:
                o.submit(increase, x)
            except rl.errors.ForkedRuntime:
                os._exit(0)
            finally:
                os._exit(1)
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        o.submit(increase, x)
        return status

    x = np.zeros(1)
    assert cpu.run(program, x).result == 0 and x[0] == 1
