"""Bad input: each is a named error, nothing is lost, and the interpreter lives."""

from __future__ import annotations

import os
import pickle
import re
import subprocess
import sys
import textwrap
import threading
import time

import numpy as np
import pytest
import ringlane as rl


@rl.kernel
def increase(x: rl.InOut):
    x += 1


@rl.kernel
def typed(x: rl.In("f32", ndim=2, contiguous=True), y: rl.Out("f32")):
    y[...] = x.sum()


def test_an_error_has_a_name_a_detail_and_a_hint_and_can_be_pickled(cpu):
    with pytest.raises(rl.Error) as caught:
        cpu.run(lambda o, x: o.submit(typed, x) and None, np.zeros((2, 2), np.float32))
    error = caught.value
    assert isinstance(error, rl.errors.ArgCount) and error.name == "ArgCount"
    assert "1" in error.detail and error.hint
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is type(error) and str(again) == str(error)


@pytest.mark.parametrize(
    "name, array",
    [
        ("ArgDType", np.zeros((2, 2), np.float64)),
        ("ArgRank", np.zeros(4, np.float32)),
        ("NotContiguous", np.zeros((2, 4), np.float32)[:, ::2]),
        ("NotContiguous", np.zeros((2, 2), np.float32, order="F")),
    ],
)
def test_what_a_kernel_does_not_take_is_refused_at_submit(rt, name, array):
    with pytest.raises(getattr(rl.errors, name)):
        rt.run(lambda o, x: o.submit(typed, x, rl.out("f32", 1)) and None, array)
    x = np.zeros(2)
    rt.run(lambda o, x: o.submit(increase, x) and None, x)
    assert x.tolist() == [1, 1]


@pytest.mark.parametrize(
    "array",
    [
        np.array([object()]),
        np.array(["text"]),
        np.zeros(2, np.complex64),
        np.zeros(2, np.dtype([("a", "f4")])),
        np.zeros(4)[::-1],
        np.zeros(2, ">f8"),
        np.frombuffer(bytearray(9), np.uint8)[1:].view(np.float64),
        np.lib.stride_tricks.as_strided(np.zeros(2), (4,), (0,)),
    ],
    ids=["objects", "text", "complex", "record", "reversed", "byte order", "unaligned", "repeated"],
)
def test_arrays_that_cannot_be_lent_are_refused(cpu, array):
    with pytest.raises(rl.errors.BadArray):
        cpu.run(lambda o, x: None, array)


def test_an_empty_array_and_overlapping_arrays_are_refused(cpu):
    with pytest.raises(rl.errors.EmptyView):
        cpu.run(lambda o, x: None, np.zeros((0, 3)))
    x = np.zeros(8)
    with pytest.raises(rl.errors.BufferOverlap):
        cpu.run(lambda o, a, b: None, x[:6], x[2:])
    same = cpu.run(lambda o, a, b: (o.submit(increase, a), o.submit(increase, b)) and None, x, x)
    assert same.status == "ok" and x.tolist() == [2] * 8


def test_a_read_only_array_can_be_read_and_not_written(rt):
    x = np.ones(4, np.float32)
    x.flags.writeable = False
    with pytest.raises(rl.errors.ReadOnly):
        rt.run(submitting_on(increase), x)
    assert rt.run(lambda o, x: o.read(x).tolist(), x).result == [1] * 4

    @rl.kernel
    def cheat(x: rl.In):
        x[0] = 2

    with pytest.raises(rl.errors.TaskFailed, match="read-only"):
        rt.run(submitting_on(cheat), np.ones(4))


def submitting_on(kernel):
    return lambda o, x: o.submit(kernel, x) and None


def test_wrong_arguments_of_a_submit_are_refused(cpu):
    x = np.zeros(4)
    cases = [
        (rl.errors.ArgKind, lambda o, t: o.submit(increase, x)),
        (rl.errors.ArgKind, lambda o, t: o.submit(increase, 3.0)),
        (rl.errors.ArgKind, lambda o, t: o.submit(increase, "text")),
        (rl.errors.BadLaunch, lambda o, t: o.submit(len, t)),
        (rl.errors.BadLaunch, lambda o, t: o.submit(increase, t, blocks=0)),
        (rl.errors.UnsplitWrite, lambda o, t: o.submit(increase, t, blocks=2)),
        (rl.errors.BadSplit, lambda o, t: o.submit(increase, t.split(1))),
        (rl.errors.ViewOutOfBounds, lambda o, t: t.slice(0, 3, 2)),
        (rl.errors.RankMismatch, lambda o, t: t.tile((0, 0), (1, 1))),
        (rl.errors.BadSize, lambda o, t: t.tile((-1,), (1,))),
        (rl.errors.BadSize, lambda o, t: t.tile(("a",), (1,))),
        (rl.errors.UnknownDType, lambda o, t: rl.out("f31", 1)),
        (rl.errors.NoSuchOutput, lambda o, t: o.submit(increase, t).out(0)),
        (rl.errors.BadMark, lambda o, t: o.submit(increase, t, dump=[7])),
    ]
    for expected, program in cases:
        with pytest.raises(expected) as caught:
            cpu.run(lambda o, t: program(o, t) and None, x)
        assert caught.value.hint and not speaks_rust(caught.value.hint), caught.value.hint


def speaks_rust(hint):
    return re.search(r"::|`\.|&\[|[a-z]!|scalar\(|SharedMut|with_", hint)


def test_values_that_do_not_fit_their_type_are_refused(cpu):
    @rl.kernel
    def take(y: rl.Out, a: rl.u8):
        y[...] = a

    for value in (256, -1, 1.5, "1", None):
        with pytest.raises(rl.errors.BadScalar):
            cpu.run(lambda o: o.submit(take, rl.out("f32", 1), value) and None)


def test_handles_are_refused_after_their_scope_and_after_their_run(rt):
    kept = []

    def program(o, x):
        with o.scope():
            kept.append(o.alloc("f32", 4))
            kept.append(o.submit(increase, x))
        o.submit(increase, kept[0])

    x = np.zeros(4)
    with pytest.raises(rl.errors.StaleHandle):
        rt.run(program, x)
    with pytest.raises(rl.errors.StaleHandle):
        rt.run(lambda o, x: o.submit(increase, kept[0]) and None, x)
    with pytest.raises(rl.errors.StaleHandle):
        rt.run(lambda o, x: o.submit(increase, x, after=[kept[1]]) and None, x)
    with pytest.raises(rl.errors.StaleHandle):
        rt.run(lambda o, x: o.read(kept[0]) and None, x)


def test_the_orchestrator_is_refused_after_its_run_in_kernels_and_in_other_threads(cpu):
    kept = []
    cpu.run(kept.append)
    with pytest.raises(rl.errors.NotInOrchestration):
        kept[0].barrier()

    def program(o, x):
        @rl.kernel
        def nested(x: rl.InOut):
            o.submit(increase, x)

        caught = []

        def other():
            try:
                o.barrier()
            except rl.Error as error:
                caught.append(error.name)

        thread = threading.Thread(target=other)
        thread.start()
        thread.join()
        assert caught == ["NotInOrchestration"]
        o.submit(nested, x)

    with pytest.raises(rl.errors.TaskFailed, match="NotInOrchestration"):
        cpu.run(program, np.zeros(1))


def test_a_runtime_is_refused_inside_its_own_run_and_after_it_was_closed(cpu):
    with pytest.raises(rl.errors.RuntimeInUse):
        cpu.run(lambda o: cpu.run(lambda o: None) and None)
    inner = cpu.run(lambda o: rl.Runtime("a2a3sim").run(lambda o: 5).result)
    assert inner.result == 5
    rt = rl.Runtime("cpu", threads=1)
    rt.close()
    rt.close()
    with pytest.raises(rl.errors.RuntimeClosed):
        rt.run(lambda o: None)


def test_a_kernel_that_raises_fails_its_task_with_the_traceback(rt):
    @rl.kernel
    def fail(x: rl.InOut):
        raise ValueError("no such value")

    with pytest.raises(rl.errors.TaskFailed) as caught:
        rt.run(lambda o, x: (o.submit(fail, x, label="the third"), o.submit(increase, x)) and None, np.zeros(2))
    detail = caught.value.detail
    assert "ValueError: no such value" in detail and "Traceback" in detail and 'in fail' in detail
    assert "the third" in detail and "1 skipped" in detail
    assert rt.last is not None and rt.last.status == "failed"


def test_a_kernel_that_returns_something_fails_its_task(rt):
    @rl.kernel
    def answer(x: rl.InOut):
        return x + 1

    with pytest.raises(rl.errors.TaskFailed, match="ndarray.*returns None"):
        rt.run(submitting_on(answer), np.zeros(2))


def test_an_exception_of_the_orchestration_is_raised_as_itself(rt):
    class Own(Exception):
        pass

    error = Own("mine")

    def program(o, x):
        o.submit(increase, x)
        with o.scope():
            raise error

    x = np.zeros(2)
    with pytest.raises(Own) as caught:
        rt.run(program, x)
    assert caught.value is error
    assert rt.run(lambda o: 3).result == 3


def test_a_deadlock_is_an_error_with_a_hint():
    with rl.Runtime("cpu", threads=2, ring_task_window=16) as rt:
        with pytest.raises(rl.errors.FlowControlDeadlock) as caught:
            rt.run(lambda o, x: [o.submit(increase, x) for _ in range(40)] and None, np.zeros(1))
    assert "`rl.Runtime(ring_task_window=64)`" in caught.value.hint
    assert caught.value.hint.endswith("put the body of the loop that submits into `with o.scope():`")


@pytest.mark.parametrize(
    "options, name",
    [
        ({"platform": "nonsense"}, "BadValue"),
        ({"threads": -1}, "NegativeCount"),
        ({"threads": "two"}, "BadValue"),
        ({"threads": 1 << 40}, "BadValue"),
        ({"threads": 1 << 20}, "CountTooLarge"),
        ({"platform": "a2a3sim", "ring_heap": 3}, "CapacityTooSmall"),
        ({"ring_task_window": 20}, "CapacityNotPowerOfTwo"),
        ({"policy": "nonsense", "platform": "a2a3sim"}, "BadValue"),
        ({"chip_file": "/no/such/file.toml", "platform": "a2a3sim"}, "CannotReadChip"),
        ({"overflow": "explode"}, "BadValue"),
    ],
)
def test_options_that_cannot_be_are_refused(options, name):
    with pytest.raises(getattr(rl.errors, name)) as caught:
        rl.Runtime(**options)
    assert caught.value.hint and not speaks_rust(caught.value.hint), caught.value.hint


def test_kernels_whose_declaration_is_wrong_are_refused():
    def without(x, y):
        pass

    def by_name(*, x: rl.In):
        pass

    def two(x: rl.In, a: float):
        pass

    good = "void f(const float *x, size_t n, float a) { }"
    cases = [
        lambda: rl.kernel(without),
        lambda: rl.kernel(by_name),
        lambda: rl.kernel(params=[rl.In])(two),
        lambda: rl.kernel(core="gpu")(two),
        lambda: rl.kernel(cost=-1.0)(two),
        lambda: rl.cc(good, "g", [rl.In("f32"), rl.f32]),
        lambda: rl.cc(good, "f", [rl.In("f32")]),
        lambda: rl.cc(good, "f", [rl.In("f32"), rl.f32, rl.f32]),
        lambda: rl.cc(good, "f", [rl.f32, rl.In("f32")]),
        lambda: rl.cc(good, "f", [rl.Out("f32"), rl.f32]),
        lambda: rl.cc(good, "f", [rl.In, rl.f32]),
        lambda: rl.cc("float f(float *x) { return 1; }", "f", [rl.Out("f32")]),
        lambda: rl.function("text", good, [rl.In("f32"), rl.f32]),
        lambda: rl.function(0, good, [rl.In("f32"), rl.f32]),
    ]
    for declare in cases:
        with pytest.raises(rl.errors.BadKernel):
            declare()
    with pytest.raises(rl.errors.BadKernel, match="'without': parameter x has no annotation"):
        rl.kernel(without)


def test_c_that_does_not_compile_is_refused_with_its_line(monkeypatch, tmp_path):
    monkeypatch.setenv("RINGLANE_CACHE", str(tmp_path))
    with pytest.raises(rl.errors.CannotCompile) as caught:
        rl.cc("\nvoid wrong(float *x) {\n  x[0] = nonsense;\n}", "wrong", [rl.Out("f32")])
    assert re.search(r"wrong\.c:3:", caught.value.detail)


def test_libraries_that_cannot_be_loaded_are_refused(tmp_path):
    with pytest.raises(rl.errors.CannotLoad):
        rl.load(tmp_path / "none.so")
    (tmp_path / "text.so").write_text("no library")
    with pytest.raises(rl.errors.CannotLoad):
        rl.load(tmp_path / "text.so")
    libc = rl.load("/lib/x86_64-linux-gnu/libc.so.6")
    with pytest.raises(rl.errors.NoSuchSymbol):
        libc.kernel("void no_such_function(float *x)", [rl.Out("f32")])


def test_a_child_of_fork_is_told_to_make_its_own_runtime(cpu):
    cpu.run(lambda o, x: o.submit(increase, x) and None, np.zeros(1))
    child = os.fork()
    if child == 0:
        status = 1
        try:
            cpu.run(lambda o: None)
        except rl.errors.ForkedRuntime:
            with rl.Runtime("cpu", threads=2) as own:
                x = np.zeros(1)
                own.run(lambda o, x: o.submit(increase, x) and None, x)
                status = 0 if x[0] == 1 else 2
        finally:
            os._exit(status)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def in_child(text, *, after):
    """Runs a program in an interpreter of its own and presses Ctrl-C after it printed `ready`."""
    import signal

    child = subprocess.Popen([sys.executable, "-c", textwrap.dedent(text)], stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None
    assert child.stdout.readline() == "ready\n"
    time.sleep(after)
    child.send_signal(signal.SIGINT)
    try:
        out, _ = child.communicate(timeout=30)
    finally:
        child.kill()
    return child.returncode, out


PROGRAM = """
import signal, sys, time
import numpy as np
import ringlane as rl

# A parent that runs in the background of a shell, as on some CI machines, ignores Ctrl-C, and so do its children.
signal.signal(signal.SIGINT, signal.default_int_handler)

{kernel}

def program(o, x):
    print("ready", flush=True)
    for i in range(10**9):
        {body}

rt = rl.Runtime("{platform}", threads={threads})
try:
    rt.run(program, np.zeros(4), record="all", output={dir!r})
except KeyboardInterrupt:
    print(rt.last.status, rl.open({dir!r}).status, rl.open({dir!r}).check().broken, flush=True)
    x = np.zeros(1)
    @rl.kernel
    def one(x: rl.Out):
        x[...] = 1
    rt.run(lambda o, x: o.submit(one, x) and None, x)
    print(x.tolist())
"""

WAYS = {
    "submits": ("@rl.kernel\ndef k(x: rl.InOut):\n    x += 1", "with o.scope(): o.submit(k, x)"),
    "a read": ("@rl.kernel\ndef k(x: rl.InOut):\n    time.sleep(0.01)", "with o.scope(): o.submit(k, x); o.read(x)"),
    "a hanging kernel": ("@rl.kernel\ndef k(x: rl.InOut):\n    while True: pass", "o.submit(k, x); o.read(x)"),
    "kernels in C": (
        'k = rl.cc("#include <unistd.h>\\nvoid k(double *x) { usleep(5000); }", "k", [rl.InOut("f64")])',
        "with o.scope(): o.submit(k, x)",
    ),
}


@pytest.mark.parametrize("platform, threads", [("cpu", 2), ("cpu", 1), ("a2a3sim", 0)])
@pytest.mark.parametrize("way", WAYS)
def test_ctrl_c_ends_a_run_with_what_was_recorded(tmp_path, way, platform, threads):
    kernel, body = WAYS[way]
    dir = str(tmp_path / "run")
    returned, out = in_child(PROGRAM.format(kernel=kernel, body=body, platform=platform, threads=threads, dir=dir), after=0.5)
    assert out.splitlines() == ["interrupted interrupted []", "[1.0]"]
    assert returned == 0
