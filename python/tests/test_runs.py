"""Recorded runs: tables, answers, pages, notebooks."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
import ringlane as rl

scale = rl.cc(
    "void scale(const float *x, float *y, size_t n, float a) { for (size_t i = 0; i < n; i++) y[i] = a * x[i]; }",
    "scale",
    [rl.In("f32"), rl.Out("f32"), rl.f32],
)


@rl.kernel
def axpy(x: rl.In, y: rl.InOut, a: float):
    y += a * x


def program(o, x, y):
    t = o.submit(scale, x, rl.out("f32", x.shape), 2.0, label="first").out()
    for i in range(4):
        with o.scope(f"step {i}"):
            o.submit(axpy, t.slice(0, i * 16, 16), y.slice(0, i * 16, 16), 1.0)


@pytest.fixture(params=["cpu", "a2a3sim"])
def run(request, tmp_path):
    with rl.Runtime(request.param, threads=2 if request.param == "cpu" else 0) as rt:
        x, y = np.arange(64, dtype=np.float32), np.ones(64, np.float32)
        yield rt.run(program, x, y, record="all", output=tmp_path / "run")


def test_every_table_is_a_dict_of_columns(run):
    lengths = {name: len(next(iter(table.values()))) for name, table in _tables(run).items()}
    assert lengths["blocks"] == 5 and lengths["submits"] == 5 and lengths["scopes"] == 5 and lengths["pmu"] == 5
    assert len(run.deps["tasks"]["task_id"]) == 5 and len(run.deps["edges"]["pred"]) >= 4
    for table in [*_tables(run).values(), *run.deps.values()]:
        assert len({len(column) for column in table.values()}) <= 1
        assert all(isinstance(column, np.ndarray) for column in table.values())
    blocks = run.blocks
    assert sorted(blocks["kernel"].tolist()) == ["axpy"] * 4 + ["scale"]
    assert (blocks["end"] >= blocks["start"]).all() and blocks["start"].dtype == np.int64
    assert set(run.scopes["label"].tolist()) == {"", "step 0", "step 1", "step 2", "step 3"}
    assert "first" in run.deps["tasks"]["label"].tolist()


def _tables(run):
    names = ["blocks", "tasks", "edges", "phases", "submits", "copies", "launches", "kernels", "scopes", "stalls", "pmu", "dump"]
    return {name: getattr(run, name) for name in names}


def test_captured_values_are_arrays(run):
    dump = run.dump
    outputs = [
        run.captured(at)
        for at in range(len(dump["task_id"]))
        if dump["kind"][at] == "tensor" and dump["stage"][at] == "after_completion" and len(dump["shape"][at]) and dump["shape"][at][0] == 64
    ]
    assert any(np.array_equal(values, 2 * np.arange(64, dtype=np.float32)) for values in outputs)
    scalar = dump["kind"].tolist().index("scalar")
    assert dump["scalar"][scalar] in ("2.0", "1.0")
    with pytest.raises(IndexError):
        run.captured(scalar)


def test_insight_answers_as_dataclasses(run):
    path = run.critical_path()
    assert path.makespan_ticks == sum(cause.ticks for cause in path.causes) == sum(s.end - s.start for s in path.segments)
    assert run.overhead().kinds and dataclasses.is_dataclass(run.overhead().kinds[0].core_time)
    assert run.verdict().sentence and run.verdict().limit.endswith("bound")
    assert all(finding.text for finding in run.findings())
    half = run.what_if(kernel={"scale": 0.5})
    assert half.experiments[0].name == "kernel scale 0.5x" and half.makespan_us > 0
    assert len(run.what_if().experiments) > 3
    with pytest.raises(rl.Error):
        run.what_if(kernel={"nothing": 0.5})
    with pytest.raises(rl.errors.BadValue):
        run.what_if(submit=-1)


def test_a_run_directory_is_opened_again(run):
    again = rl.open(run.dir)
    assert again.makespan == run.makespan and again.manifest["tasks"] == 5
    assert rl.open(run.dir / "deps.json").dir == run.dir
    assert again.check().ok, again.check()
    assert again.report().name == "report.html" and again.report().stat().st_size > 10_000


def test_a_run_shows_itself_in_a_notebook(run):
    html = run._repr_html_()
    assert html.count("<rect") == 5 and "<svg" in html and "axpy" in html
    plain = rl.Runtime("cpu", threads=1).run(lambda o: None)
    assert "<svg" not in plain._repr_html_() and "0 tasks" in plain._repr_html_()


def test_what_was_not_recorded_is_an_error(tmp_path):
    with rl.Runtime("cpu", threads=1) as rt:
        with pytest.raises(rl.errors.NotRecorded):
            rt.run(lambda o: None).blocks
        run = rt.run(lambda o: None, record=["deps"], output=tmp_path / "deps")
        with pytest.raises(rl.errors.NotRecorded):
            run.blocks
        with pytest.raises(rl.Error):
            rt.run(lambda o: None, record="all", output=tmp_path / "deps")
        with pytest.raises(rl.errors.BadValue):
            rt.run(lambda o: None, record="everything")
        level = rt.run(lambda o: None, record={"swimlane": 1}, output=tmp_path / "one")
        assert level.manifest["swimlane_level"] == 1
    with pytest.raises(rl.Error):
        rl.open(tmp_path / "nothing")
    (tmp_path / "bad").mkdir()
    (tmp_path / "bad" / "run.json").write_text("{")
    with pytest.raises(rl.Error):
        rl.open(tmp_path / "bad")


def test_only_some_kernels_are_dumped(tmp_path):
    with rl.Runtime("cpu", threads=1) as rt:
        x, y = np.arange(64, dtype=np.float32), np.ones(64, np.float32)
        run = rt.run(program, x, y, record={"dump": ["scale"]}, output=tmp_path / "run")
        assert len(set(run.dump["task_id"].tolist())) == 1


def test_the_first_task_that_differs_from_another_run_is_named(tmp_path):
    factor = [2.0]

    @rl.kernel
    def wrong(x: rl.In, y: rl.Out):
        y[...] = x * factor[0]

    def chain(o, x):
        t = o.submit(wrong, x, rl.out("f64", 4)).out()
        o.submit(axpy, t, o.alloc("f64", 4), 1.0)

    with rl.Runtime("cpu", threads=1) as rt:
        one = rt.run(chain, np.ones(4), record="all", output=tmp_path / "one")
        same = rt.run(chain, np.ones(4), record="all", output=tmp_path / "same")
        factor[0] = 3.0
        other = rt.run(chain, np.ones(4), record="all", output=tmp_path / "other")
    assert same.first_difference(one) is None
    assert "wrong" in other.first_difference(one)
    assert other.first_difference(tmp_path / "one") == other.first_difference(one)


def test_a_table_is_a_pandas_frame(run):
    pandas = pytest.importorskip("pandas")
    assert len(pandas.DataFrame(run.blocks)) == 5
