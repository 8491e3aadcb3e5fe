"""Runs, comparisons, sweeps, recordings and what comes of them."""

import io
import json
import os
import re
import signal
import subprocess
import sys
import time
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import numpy as np
import pytest

import raddle


def test_a_run_is_the_command_s(command):
    told = command("run", "bfs", "size=tiny", "--gpu", "gtx480", "--policy", "warp=lrr", "--set",
                   "l2.size_kib=96")
    result = raddle.run("bfs", size="tiny", gpu="gtx480", policy={"warp": "lrr"},
                        set={"l2": {"size_kib": 96}})
    assert result.state_hash == told["state_hash"]
    assert result.config == told["config"] and result.totals == told["totals"]
    assert result.correct is True and result.difference == ""
    assert result.cycles == told["totals"]["cycles"] == result["totals"]["cycles"]
    assert result.metric("cycles") == result.cycles
    assert result.metric("stalls.memory") == result.stalls.memory
    assert json.loads(result.json())["state_hash"] == told["state_hash"]


def test_what_is_not_there_is_named():
    result = raddle.run("vecadd", size="tiny")
    with pytest.raises(AttributeError, match="a result has no 'cycels'.*cycles"):
        result.cycels
    with pytest.raises(AttributeError, match="there is no 'nowhere'; known: .*cycles"):
        result.totals.nowhere
    with pytest.raises(raddle.InputError, match="'nowhere' is no number of this result"):
        result.metric("nowhere")
    assert "cycles" in dir(result) and "cycles" in dir(result.totals)


@pytest.mark.parametrize("workload, keywords, text", [
    ("bsf", {}, "no workload is called 'bsf'; did you mean 'bfs'"),
    ("bfs", {"size": "huge"}, "bfs size=huge.*expected"),
    ("bfs", {"gpu": "v1000"}, "no GPU is called 'v1000'"),
    ("bfs", {"set": {"l2.size": 3}}, "l2.size"),
    ("bfs", {"policy": {"warp": "gtoo"}}, "no warp policy is called 'gtoo'"),
    ("bfs", {"policy": {"wrap": "gto"}}, "wrap"),
    ("bfs", {"functional": True, "live": True}, "exclude each other"),
    ("bfs", {"functional": True, "policy": {"warp": "gto"}}, "is of timing"),
    ("bfs", {"threads": 0}, "--threads: expected a whole number from 1 to 256, found 0"),
    ("bfs", {"threads": 300}, "--threads: expected a whole number from 1 to 256, found 300"),
    ("bfs", {"seed": 0}, "--seed: expected a whole number from 1 on, found '0'"),
    ("bfs", {"seed": -1}, "--seed: expected a whole number from 1 on, found '-1'"),
    ("bfs", {"max_cycles": 0}, "--max-cycles: expected a whole number from 1 on, found '0'"),
    ("bfs", {"first_launches": 0}, "--first-launches: expected a whole number from 1 on"),
    ("bfs", {"first_launches": 1.5}, "--first-launches: expected a whole number from 1 on"),
    ("bfs", {"max_stream_gib": 0}, "--max-stream: expected a number from 0.001 to 1000000"),
    ("bfs", {"max_stream_gib": -1}, "--max-stream: expected a number from 0.001 to 1000000"),
    ("bfs", {"max_stream_gib": float("nan")}, "--max-stream: expected a number.*found 'nan'"),
    ("nowhere.ptx", {}, "nowhere.ptx"),
    ("nowhere.rdl", {}, "nowhere.rdl"),
])
def test_errors_are_those_of_the_program(workload, keywords, text):
    with pytest.raises(raddle.InputError, match=text):
        raddle.run(workload, **keywords)


def test_a_run_that_fails_is_a_run_error():
    with pytest.raises(raddle.RunError, match="has not ended after the 50 cycles allowed"):
        raddle.run("vecadd", size="tiny", max_cycles=50)
    assert issubclass(raddle.RunError, RuntimeError) and issubclass(raddle.InputError, ValueError)


def test_a_functional_run_takes_no_time():
    result = raddle.run("vecadd", size="tiny", functional=True)
    assert result.correct and result.cycles == 0 and result.warp_instructions > 0
    assert "vecadd" in repr(result) and "vecadd" in result._repr_html_()


def test_series_are_arrays_that_add_up():
    result = raddle.run("bfs", size="tiny", gpu="gtx480", samples=128)
    plain = raddle.run("bfs", size="tiny", gpu="gtx480")
    assert result.state_hash == plain.state_hash
    series = result.series
    assert series.issued.dtype == np.uint64 and series.issued.shape == series.start.shape
    assert int(series.issued.sum()) == result.totals.warp_instructions
    assert len(set(np.diff(series.start))) == 1 and 128 <= series.start[1] < 256
    assert int(series.stall_memory.sum()) == result.stalls.memory
    assert not plain.series
    blocks = result.blocks
    assert (blocks.end > blocks.start).all() and blocks.sm.max() < 15
    assert len(blocks.block) == sum(np.prod(kernel.grid) for kernel in result.kernels)


def test_frames_have_a_row_for_each():
    pandas = pytest.importorskip("pandas")
    result = raddle.run("bfs", size="tiny", gpu="gtx480", samples=True)
    frame = result.frame()
    assert isinstance(frame, pandas.DataFrame) and len(frame) == len(result.kernels)
    assert list(frame.cycles) == [kernel.cycles for kernel in result.kernels]
    assert result.series_frame().issued.sum() == result.warp_instructions
    found = raddle.compare(["bfs", "vecadd"], ["lrr", "gto"], size="tiny", gpu="gtx480")
    rows = found.frame()
    assert list(rows.workload) == ["bfs", "bfs", "vecadd", "vecadd"]
    assert list(rows.label) == ["lrr", "gto", "lrr", "gto"] and rows.speedup[0] == 1
    assert rows.cycles[1] == found["bfs", "gto"].cycles


def test_speed_ups_are_of_time_and_within_a_seed_and_an_input():
    clocks = raddle.compare("spmv", ["lrr"], size="tiny", gpu="gtx480",
                            sweep={"core_clock_mhz": [700, 1400]})
    ratio = 2 * clocks[0].cycles / clocks[1].cycles
    assert clocks.speedup(clocks[1]) == pytest.approx(ratio) and ratio > 1.5
    seeds = raddle.compare("spmv", ["lrr", "gto"], size="tiny", gpu="gtx480",
                           sweep={"run.seed": [1, 2]})
    of = {one.label: one for one in seeds}
    assert len({one.cycles for one in seeds}) == 4
    for seed in "12":
        assert seeds.speedup(of[f"lrr run.seed={seed}"]) == 1
        assert seeds.speedup(of[f"gto run.seed={seed}"]) == pytest.approx(
            of[f"lrr run.seed={seed}"].cycles / of[f"gto run.seed={seed}"].cycles)
    assert "2 seeds" in str(seeds) and "same input" not in str(seeds)
    inputs = raddle.compare(["bfs size=tiny", "bfs size=tiny vertices=300"], ["lrr", "gto"],
                            gpu="gtx480")
    assert inputs.workloads == ["bfs size=tiny", "bfs size=tiny vertices=300"]
    assert [inputs.speedup(inputs.of(name)[0]) for name in inputs.workloads] == [1, 1]
    assert len(inputs.of("bfs")) == 4 and str(inputs).count("speed-up") == 2
    assert inputs.figure().count("<title>bfs size=tiny vertices=300") == 2
    with pytest.raises(KeyError, match="names 2 results"):
        inputs["bfs", "gto"]
    assert "cycles" in inputs["bfs size=tiny", "gto"].totals


def test_results_put_together_by_hand_keep_inputs_apart():
    whole, part = (raddle.run("bfs", size="tiny", gpu="gtx480", **parameters)
                   for parameters in ({}, {"vertices": 300}))
    found = raddle.Results([whole, part])
    assert found.workloads == ["bfs size=tiny", "bfs size=tiny vertices=300"]
    assert [found.speedup(one) for one in found] == [1, 1]
    assert "fastest" not in str(found) and str(found).count("speed-up") == 2
    again = raddle.run("bfs size=tiny", gpu="gtx480", vertices=whole.workload.parameters.vertices)
    assert raddle.Results([whole, again]).workloads == ["bfs"], "the same, said otherwise"
    both = raddle.Results([raddle.corun(["vecadd size=tiny", "spmv size=tiny"], horizon,
                                        gpu="ccbp") for horizon in (3_000, 4_000)])
    assert len(both.workloads) == 2 and "horizon=4000" in both.workloads[1]


def test_the_last_interval_is_as_long_as_it_is():
    result = raddle.run("sgemm", size="tiny", gpu="gtx480", samples=1000)
    starts = result.series.start
    assert 0 < result.cycles - starts[-1] < 1000
    last = result.series.thread_instructions[-1] / (result.cycles - starts[-1])
    drawn = raddle._charts.over_intervals(result)
    assert drawn[-1] == pytest.approx(last) and len(drawn) == len(starts)
    sampled = raddle.run("hotspot", size="tiny", steps=60, gpu="gtx480", sampling_error=0.05,
                         samples=10_000)
    timed, starts = sampled.sampling.timed_totals.cycles, sampled.series.start
    assert timed < sampled.cycles / 2 and 0 < timed - starts[-1] < 10_000
    assert raddle._charts.over_intervals(sampled)[-1] == pytest.approx(
        sampled.series.thread_instructions[-1] / (timed - starts[-1]))


def test_a_comparison_is_the_command_s(command):
    told = command("compare", "bfs", "size=tiny", "--gpu", "gtx480", "--policies", "lrr,gto+ccws")
    found = raddle.compare("bfs", ["lrr", {"warp": "gto", "throttle": "ccws"}], size="tiny",
                           gpu="gtx480")
    assert [one.state_hash for one in found] == [
        run["result"]["state_hash"] for run in told["runs"]]
    assert "speed-up" in str(found) and "lrr" in str(found)
    with pytest.raises(KeyError, match="labels: lrr"):
        found["ccws"]


def test_a_sweep_has_every_combination(command):
    told = command("compare", "spmv", "size=tiny", "--gpu", "gtx480", "--policies", "gto",
                   "--sweep", "l2.size_kib=64,128", "--sweep", "sm.lsu_queue=4..8:4")
    found = raddle.sweep("spmv", {"l2.size_kib": [64, 128], "sm.lsu_queue": "4..8:4"}, size="tiny",
                         gpu="gtx480", policies=["gto"])
    assert len(found) == 4
    assert [one.label for one in found] == [run["policies"] for run in told["runs"]]
    assert [one.state_hash for one in found] == [
        run["result"]["state_hash"] for run in told["runs"]]
    with pytest.raises(raddle.InputError, match="expected what to compare"):
        raddle.compare("spmv", size="tiny")


def test_a_recording_is_timed_as_what_was_recorded(tmp_path):
    recording = raddle.record("bfs", tmp_path / "bfs.rdl", size="tiny", gpu="gtx480", seed=7)
    live = raddle.run("bfs", size="tiny", gpu="gtx480", seed=7)
    assert recording.run(gpu="gtx480").state_hash == live.state_hash
    assert raddle.run(recording, gpu="gtx480").state_hash == live.state_hash
    both = raddle.compare(recording, ["lrr", "gto"], gpu="gtx480")
    assert both["gto"].cycles == live.cycles
    with pytest.raises(raddle.InputError, match="run.seed: expected 7"):
        raddle.run(recording, gpu="gtx480", seed=8)
    with pytest.raises(raddle.InputError, match="there is no recording"):
        raddle.Recording(tmp_path / "none.rdl")


def test_tenants_share_the_gpu(command):
    told = command("run", "vecadd", "size=tiny", "+", "spmv", "size=tiny", "--gpu", "ccbp",
                   "--horizon", "20000", "--policy", "scheme=smk")
    result = raddle.corun(["vecadd size=tiny", ("spmv", {"size": "tiny"})], 20_000, gpu="ccbp",
                          policy={"scheme": "smk"})
    assert result.state_hash == told["state_hash"]


@pytest.mark.parametrize("keywords, text", [
    ({"cold_l2": True}, "--cold-l2 .run.cold_l2. does not hold for a co-run"),
    ({"set": {"run.cold_l2": True}}, "--cold-l2 .run.cold_l2. does not hold for a co-run"),
    ({"first_launches": 1}, "--first-launches does not hold for a co-run"),
    ({"checks": ["races"]}, "--check does not hold for a co-run"),
    ({"ipc_alone": [3, 0]}, "expected an IPC alone above 0 of each tenant, found 0"),
    ({"ipc_alone": [3, -5]}, "expected an IPC alone above 0 of each tenant, found -5"),
])
def test_what_does_not_hold_for_a_corun_is_refused(keywords, text):
    with pytest.raises(raddle.InputError, match=text):
        raddle.corun(["vecadd size=tiny", "spmv size=tiny"], 5_000, gpu="ccbp", **keywords)


@pytest.mark.parametrize("keywords, text", [
    ({"first_launches": 2}, "--first-launches does not hold for an execution without timing"),
    ({"sampling_error": 0.1}, "--sampling-error does not hold for an execution without timing"),
    ({"cold_l2": True}, "--cold-l2 does not hold for an execution without timing"),
    ({"skip": False}, "--no-skip does not hold for an execution without timing"),
    ({"report": True}, "--report does not hold for an execution without timing"),
    ({"samples": 100}, "sampling over time does not hold for an execution without timing"),
])
def test_what_does_not_hold_without_timing_is_refused(keywords, text):
    with pytest.raises(raddle.InputError, match=text):
        raddle.run("vecadd", size="tiny", functional=True, **keywords)


def test_what_does_not_hold_for_a_recording_is_refused(tmp_path):
    recording = raddle.record("vecadd", tmp_path / "v.rdl", size="tiny", gpu="gtx480")
    with pytest.raises(raddle.InputError, match="--check does not hold for a recording or trace"):
        recording.run(gpu="gtx480", checks=["races"])
    with pytest.raises(raddle.InputError, match="--check does not hold for a recording or trace"):
        raddle.compare(recording, ["lrr", "gto"], gpu="gtx480", checks=["races"])
    with pytest.raises(raddle.InputError, match="replay times what was recorded"):
        recording.run(gpu="gtx480", functional=True)
    copy = tmp_path / "copy.rdl"
    for keywords, text in [
            ({"size": "tiny"}, "'size=tiny': a trace has no parameters"),
            ({"parameters": {"n": 300}}, "'n=300': a trace has no parameters"),
            ({"seed": 2}, "--seed does not hold for a recording or trace"),
            ({"first_launches": 3}, "--first-launches does not hold for a recording or trace")]:
        with pytest.raises(raddle.InputError, match=text):
            raddle.record(recording, copy, **keywords)
    for keywords, text in [
            ({"checks": ["races"]}, "--check does not hold for record, which times nothing"),
            ({"policy": {"warp": "gto"}}, "--policy does not hold for record"),
            ({"set": {"run.cold_l2": True}}, "--set run.cold_l2=true does not hold for record"),
            ({"functional": True}, "--functional does not hold for record")]:
        with pytest.raises(raddle.InputError, match=text):
            raddle.record("vecadd", copy, size="tiny", **keywords)
    assert not copy.exists()


def test_the_configuration_is_the_resolved_one():
    config = raddle.config(gpu="gtx480", set={"l2.size_kib": 96}, policy={"warp": "lrr"})
    assert config.l2.size_kib == 96 and config.policy.warp.name == "lrr"
    assert "gtx480" in raddle.gpus() and "bfs" in raddle.workloads()
    assert "two_level" in raddle.policies().warp


def test_pages_and_timelines_are_written(tmp_path):
    found = raddle.compare("vecadd", ["lrr", "gto"], size="tiny", report=True)
    page = found.page(tmp_path / "page.html")
    assert (tmp_path / "page.html").read_bytes() == page.encode()
    assert page.startswith("<!doctype html>") and '"vecadd"' in page
    events = json.loads(found[0].timeline(tmp_path / "trace.json"))
    assert events and (tmp_path / "trace.json").exists()
    found[0].save(tmp_path / "result.json")
    assert json.loads((tmp_path / "result.json").read_text())["state_hash"] == found[0].state_hash
    frame = raddle.show(found)._repr_html_()
    assert frame.startswith("<iframe") and "&lt;!doctype html&gt;" in frame


def page_data(page):
    start = page.index(">", page.index('<script id="raddle-data"')) + 1
    return json.loads(page[start:page.index("</script>", start)])


@pytest.mark.parametrize("policies, labels", [(["lrr", "gto"], ["lrr", "gto"]), ([], [""])])
def test_several_seeds_are_several_inputs_of_one_policy(policies, labels, command):
    words = ["--policies", ",".join(policies)] if policies else []
    told = command("compare", "bfs", "size=tiny", "--gpu", "gtx480", "--sweep", "run.seed=1,2,3",
                   *words)
    found = raddle.compare("bfs", policies, sweep={"run.seed": [1, 2, 3]}, size="tiny",
                           gpu="gtx480")
    page = page_data(found.page())
    assert [one["seeds"] for one in page["over_seeds"]] == [[1, 2, 3]] * len(labels)
    assert [one["speedup"] for one in page["over_seeds"]] == [
        one["speedup"] for one in told["over_seeds"]]
    assert not any(one["same_input"] for one in page["over_seeds"])
    assert {run["label"] for run in page["runs"]} == set(policies or ["warp=gto"])
    assert [one["policies"] for one in told["over_seeds"]] == labels
    table = str(found)
    assert "same input" not in table and table.count("1, 2, 3") == len(labels)
    assert policies or "  all  " in table


def test_notebooks_show_tables_and_charts():
    result = raddle.run("bfs", size="tiny", gpu="gtx480", samples=True)
    html = result._repr_html_()
    assert html.count("<svg") == 3 and "polyline" in html and "memory" in html
    found = raddle.compare("bfs", ["lrr", "gto"], size="tiny", gpu="gtx480")
    html = found._repr_html_()
    assert html.count("<svg") == 2 and f"{found[1].cycles:,}" in html
    from xml.etree import ElementTree
    for drawing in html.split("<svg")[1:]:
        ElementTree.fromstring("<svg" + drawing.split("</svg>")[0] + "</svg>")


@pytest.mark.parametrize("keywords, said, interval", [
    ({"sampling_error": 0.05}, "launches timed, ", r"\d \+- \d+\.\d\d %"),
    ({"first_launches": 2}, "2 launches (the first; 58 more not timed)", r"\d</td>"),
])
def test_notebooks_say_what_was_not_timed(keywords, said, interval):
    one = raddle.run("hotspot", size="tiny", steps=60, gpu="gtx480", **keywords)
    two = raddle.compare("hotspot", ["lrr", "gto"], size="tiny", parameters={"steps": 60},
                         gpu="gtx480", **keywords)
    for shown in (one._repr_html_(), two._repr_html_()):
        assert said in shown and re.search(f"<td>{one.cycles:,}"[:-1] + interval, shown)
    assert "Cycles of the longest launches that were timed" in one._repr_html_()
    whole = raddle.run("hotspot", size="tiny", gpu="gtx480")._repr_html_()
    assert "Cycles of the longest launches<" in whole and "timed" not in whole


def test_a_figure_has_a_bar_for_each_run(tmp_path):
    from xml.etree import ElementTree
    found = raddle.compare(["bfs", "vecadd"], ["lrr", "gto"], size="tiny", gpu="gtx480")
    for metric in ("speedup", "l1d_hit_rate"):
        drawing = found.figure(tmp_path / "a.svg", metric)
        assert (tmp_path / "a.svg").read_text() == drawing
        bars = [one for one in ElementTree.fromstring(drawing).iter() if len(one)
                and one.tag.endswith("rect")]
        assert len(bars) == 4
    with pytest.raises(raddle.InputError, match="is no number"):
        found.figure(metric="nothing")


def test_the_example_draws_its_figure(tmp_path):
    example = Path(__file__).resolve().parents[2] / "examples/own_policy.py"
    done = subprocess.run([sys.executable, example, "size=tiny"], cwd=tmp_path, text=True,
                          capture_output=True)
    assert done.returncode == 0, done.stderr
    assert "few_blocks:limit=2" in done.stdout and (tmp_path / "own_policy.svg").exists()
    assert (tmp_path / "own_policy.html").exists()


def test_progress_is_told_and_may_end_the_run():
    told = []

    def look(now):
        told.append(now)
        if len(told) == 2:
            raise StopIteration("enough")

    with pytest.raises(StopIteration, match="enough"):
        raddle.run("sgemm", size="paper", progress=look)
    assert told[0].kernel and {"launches", "cycles"} <= set(told[0])


def test_progress_on_a_terminal_leaves_nothing_behind():
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    with redirect_stderr(Terminal()) as shown:
        raddle.run("bfs", size="small")
    text = shown.getvalue()
    assert "bfs: " in text and text.endswith("\r\033[K")
    with redirect_stderr(Terminal()) as shown:
        raddle.run("bfs", size="small", progress=False)
    assert shown.getvalue() == ""


@pytest.mark.parametrize("arguments", [
    "'sgemm', size='paper'", "'sgemm', size='paper', gpu='h200'",
    "'sgemm', m=4096, n=4096, k=2048, functional=True"])
def test_ctrl_c_ends_a_run_within_a_second(arguments):
    code = ("import raddle, sys\n"
            "print('ready', flush=True)\n"
            f"raddle.run({arguments}, progress=False)")
    process = subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        # Tests that a shell runs in the background inherit that Ctrl-C is ignored.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler))
    assert process.stdout.readline() == "ready\n"
    time.sleep(1.5)
    assert process.poll() is None, "it is long enough"
    before = time.monotonic()
    process.send_signal(signal.SIGINT)
    _, told = process.communicate(timeout=60)
    assert time.monotonic() - before < 1.0
    assert "KeyboardInterrupt" in told and process.returncode != 0


def test_other_threads_of_python_go_on_meanwhile():
    import threading
    count, done = 0, threading.Event()

    def run():
        raddle.run("bfs", size="small")
        done.set()

    threading.Thread(target=run).start()
    while not done.is_set():
        count += 1
        time.sleep(0.001)
    assert count > 20


def test_what_kernels_print_goes_to_python_s_output():
    ptx = """
.version 7.0
.target sm_70
.address_size 64
.extern .func (.param .b32 r) vprintf (.param .b64 f, .param .b64 a);
.global .align 1 .b8 text[7] = {104, 101, 108, 108, 111, 10, 0};
.visible .entry hello() {
  .reg .b64 %rd<3>;
  mov.u64 %rd1, text;
  cvta.global.u64 %rd2, %rd1;
  {
  .param .b64 p0;
  st.param.b64 [p0], %rd2;
  .param .b64 p1;
  st.param.b64 [p1], 0;
  .param .b32 r0;
  call.uni (r0), vprintf, (p0, p1);
  }
  ret;
}
"""
    with redirect_stdout(io.StringIO()) as out:
        raddle.launch(ptx, 1, 1)
    assert out.getvalue() == "hello\n"


def test_programs_and_experiments_run_in_processes_of_their_own(tmp_path, command):
    file = tmp_path / "mine.toml"
    file.write_text('gpu = "gtx480"\n'
                    'runs = [{ workloads = ["vecadd size=tiny"], variants = ["lrr", "gto"] }]\n')
    document = raddle.experiment(file, results=tmp_path / "results", jobs=2)
    assert document.experiments[0].runs
    with pytest.raises(raddle.InputError, match="there is no program"):
        raddle.exec(["./nowhere"])
    with pytest.raises(raddle.InputError, match="not known to another process"):
        raddle.exec(["./nowhere"], policy={"warp": raddle.WarpPolicy})


def test_a_recording_of_seed_0_is_timed_as_others_are(tmp_path):
    file = tmp_path / "zero.rdl"
    recording = raddle.record("bfs", file, size="tiny", gpu="gtx480", set={"run.seed": 0})
    direct = raddle.run("bfs", size="tiny", gpu="gtx480", set={"run.seed": 0})
    assert recording.run(gpu="gtx480").cycles == direct.cycles


def test_a_recording_is_not_written_over_what_it_reads(tmp_path):
    ptx = tmp_path / "k.ptx"
    text = ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry g() { ret; }\n"
    ptx.write_text(text)
    with pytest.raises(raddle.InputError, match="it is read: expected another file to write"):
        raddle.record(str(ptx), ptx, parameters={"kernel": "g", "grid": 1, "block": 1})
    assert ptx.read_text() == text


def test_plug_ins_of_the_environment_are_there(tmp_path):
    root = Path(__file__).resolve().parents[2]
    plug_in = tmp_path / "own.so"
    made = subprocess.run([root / "scripts/plugin.sh", root / "examples/own_policy.cpp", "-o",
                           plug_in], capture_output=True, text=True)
    assert made.returncode == 0, made.stderr
    done = subprocess.run(
        [sys.executable, "-c", "import raddle\n"
         "raddle.run('vecadd', size='tiny', gpu='gtx480', policy={'warp': 'youngest'})"],
        env={**os.environ, "RADDLE_PLUGINS": str(plug_in)}, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_an_experiment_that_fails_gives_its_document(tmp_path, command):
    file = tmp_path / "fails.toml"
    runs = 'gpu = "gtx480"\nruns = [{ workloads = ["bfs size=tiny"], variants = ["lrr", "gto"] }]\n'
    file.write_text('max_cycles = 3000\n' + runs)
    failed = raddle.experiment(file, results=tmp_path / "results")
    assert "3000 cycles allowed" in str(failed)
    file.write_text('kind = "performance"\n' + runs
                    + '[[shapes]]\ncheck = "totals.cycles[bfs, lrr] < 5"\n')
    assert "fail" in str(raddle.experiment(file, results=tmp_path / "results").experiments[0])
    file.write_text("nothing = 1\n")
    with pytest.raises(raddle.InputError, match="nothing"):
        raddle.experiment(file, results=tmp_path / "results")


def test_a_program_of_another_version_is_told(monkeypatch):
    monkeypatch.setenv("RADDLE_PROGRAM", "/bin/false")
    with pytest.raises(raddle.RunError, match="ended with status 1"):
        raddle.exec(["./app"])
    assert raddle.program() == "/bin/false" and os.access(raddle.program(), os.X_OK)
