"""What cannot be is refused before anything runs, and no file is lost."""

import decimal
import fractions
import os
import shutil
from pathlib import Path

import numpy as np
import pytest
from test_launch import SAXPY

import raddle

ROOT = Path(__file__).resolve().parents[2]
WORKS = ["vecadd size=tiny", "spmv size=tiny"]


@pytest.fixture
def recording(tmp_path):
    return raddle.record("vecadd", tmp_path / "v.rdl", size="tiny", gpu="gtx480")


def test_a_recording_takes_no_parameters(recording):
    text = "a recording has its parameters already"
    for keywords in ({"size": "small"}, {"parameters": {"n": 300}}):
        for use in (lambda: raddle.compare(recording, ["lrr", "gto"], **keywords),
                    lambda: raddle.compare(os.fspath(recording), ["lrr", "gto"], **keywords),
                    lambda: raddle.sweep([recording], {"l2.size_kib": [64, 128]}, **keywords)):
            with pytest.raises(raddle.InputError, match=text):
                use()
    with pytest.raises(raddle.InputError, match=text):
        raddle.compare([(recording, {"size": "tiny"})], ["lrr", "gto"])
    both = raddle.compare([recording, "bfs"], ["gto"], size="tiny", gpu="gtx480")
    assert both.workloads == ["vecadd", "bfs"], "the others take them"


def test_a_file_of_ptx_takes_parameters_by_path_as_well(tmp_path):
    file = tmp_path / "k.ptx"
    file.write_text(".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry g() { ret; }\n")
    parameters = {"kernel": "g", "grid": 1, "block": 32}
    for name in (file, str(file)):
        found = raddle.compare(name, ["lrr", "gto"], parameters=parameters, gpu="gtx480")
        assert len(found) == 2 and found[0].workload.parameters.kernel == "g"


@pytest.mark.parametrize("keywords, text", [
    ({"max_cycles": 5}, "--max-cycles does not hold for record"),
    ({"threads": 2}, "--threads does not hold for record"),
])
def test_what_does_not_hold_for_record_is_refused(tmp_path, keywords, text):
    with pytest.raises(raddle.InputError, match=text):
        raddle.record("vecadd", tmp_path / "v.rdl", size="tiny", **keywords)
    assert not (tmp_path / "v.rdl").exists()


def test_a_limit_of_op_streams_is_not_for_a_recording(recording, tmp_path):
    text = "--max-stream does not hold for a recording or trace"
    for use in (lambda: recording.run(max_stream_gib=1),
                lambda: raddle.compare(recording, ["lrr", "gto"], max_stream_gib=1),
                lambda: raddle.record(recording, tmp_path / "w.rdl", max_stream_gib=1)):
        with pytest.raises(raddle.InputError, match=text):
            use()


def test_a_size_is_said_once(tmp_path):
    for use in (lambda **more: raddle.compare("vecadd", ["gto"], **more),
                lambda **more: raddle.record("vecadd", tmp_path / "v.rdl", **more)):
        with pytest.raises(raddle.InputError, match="says that already"):
            use(size="tiny", parameters={"size": "small"})


def test_true_is_true_in_every_form_of_a_workload():
    for true in (True, np.True_):
        cycles = {raddle.run(work, **keywords).cycles for work, keywords in [
            (("amr", {"size": "tiny", "persistent": true}), {}),
            ("amr", {"size": "tiny", "persistent": true})]}
        assert len(cycles) == 1


@pytest.mark.parametrize("value", [np.float32(2.5), decimal.Decimal("2.5"), fractions.Fraction(5, 2),
                                   2.5, "2"])
def test_numbers_that_are_not_whole_are_not_cut(value):
    for use in (lambda: raddle.run("vecadd", size="tiny", threads=value),
                lambda: raddle.run("vecadd", size="tiny", samples=value),
                lambda: raddle.run("vecadd", size="tiny", seed=value),
                lambda: raddle.corun(WORKS, value, gpu="ccbp"),
                lambda: raddle.corun(WORKS, 5000, warmup=value, gpu="ccbp"),
                lambda: raddle.launch(SAXPY, 1, 32, repeat=value),
                lambda: raddle.Gpu(samples=value)):
        with pytest.raises((raddle.InputError, TypeError)):
            use()
    answers = []

    class Cutting(raddle.BlockPolicy):
        """gives a number that is not whole"""

        def pick(self, view):
            answers.append(value)
            return value, 0

    with pytest.raises((TypeError, raddle.RunError), match="expected"):
        raddle.run("vecadd", size="tiny", policy={"block": Cutting})
    assert answers


@pytest.mark.parametrize("file", [None, b"v.rdl", 3])
def test_a_file_is_a_path(tmp_path, monkeypatch, file):
    monkeypatch.chdir(tmp_path)
    result = raddle.run("vecadd", size="tiny")
    for use in (lambda: raddle.record("vecadd", file, size="tiny"),
                lambda: raddle.record_program(["./app"], file),
                lambda: raddle.experiment("x.toml", results=file),
                lambda: raddle.run("vecadd", size="tiny", gpu=file),
                lambda: result.save(file)):
        with pytest.raises(TypeError):
            use()
    assert list(tmp_path.iterdir()) == []


def test_what_is_read_is_not_written_over(tmp_path):
    machine, result_file = tmp_path / "m.toml", tmp_path / "r.json"
    shutil.copy(ROOT / "gpus/gtx480.toml", machine)
    raddle.run("vecadd", size="tiny", gpu="gtx480").save(result_file)
    found = raddle.run("vecadd", size="tiny", gpu=machine)
    compared = raddle.compare("vecadd", ["lrr", "gto"], size="tiny", gpu=machine)
    launched = raddle.launch(SAXPY, 1, 32, [np.zeros(32, np.float32)] * 2 + [1.0, 32], gpu=machine)
    shared = raddle.corun(WORKS, 2000, gpu=machine)
    before = machine.read_text()
    for write in (lambda: raddle.record("vecadd", machine, size="tiny", gpu=machine),
                  lambda: found.save(machine), lambda: found.page(machine),
                  lambda: found.timeline(machine), lambda: compared.page(machine),
                  lambda: compared.figure(machine), lambda: compared[1].save(machine),
                  lambda: launched.result.save(machine), lambda: shared.save(machine)):
        with pytest.raises(raddle.InputError, match="it is read: expected another file to write"):
            write()
    assert machine.read_text() == before
    text = result_file.read_text()
    with pytest.raises(raddle.InputError, match="it is read"):
        raddle.record("vecadd", result_file, size="tiny", gpu=result_file)
    assert result_file.read_text() == text
    link = tmp_path / "link.toml"
    link.symlink_to(machine)
    with pytest.raises(raddle.InputError, match="it is read"):
        found.save(link)


def test_a_recording_is_not_written_over_by_its_result(recording):
    before = recording.file.read_bytes()
    with pytest.raises(raddle.InputError, match="it is read"):
        recording.run(gpu="gtx480").save(recording.file)
    assert recording.file.read_bytes() == before


class RoundRobin(raddle.BlockPolicy):
    """all SMs in turn"""

    name = "own_rr"

    def __init__(self, context):
        self.left, self.turn = {}, 0

    def on_launch(self, launch):
        self.left[launch.slot] = iter(range(launch.blocks))

    def pick(self, view):
        block = next(self.left[view.slot], None) if view.free_sms else None
        if block is None:
            return None
        sm = raddle.first_from(view.free_sms, self.turn)
        self.turn = sm + 1
        return sm, block


class FirstSm(RoundRobin):
    """SM 0 only"""

    def pick(self, view):
        block = next(self.left[view.slot], None) if view.free_sms & 1 else None
        return None if block is None else (0, block)


def test_of_one_name_there_is_one_class_in_a_call(simulator):
    text = "two block policies of one call are called 'own_rr': RoundRobin and FirstSm"
    keywords = {"size": "tiny", "gpu": "gtx480"}
    for policies, policy in (([{"block": RoundRobin}, {"block": FirstSm, "warp": "gto"}], {}),
                             ([FirstSm, "gto"], {"block": RoundRobin}),
                             ([RoundRobin, FirstSm], {})):
        with pytest.raises(raddle.InputError, match="two block policies of one call"):
            simulator.compare("bfs", policies, policy=policy, **keywords)
    assert "own_rr" not in simulator.policies().block, "nothing is registered"
    simulator.add_policy(RoundRobin)
    for named in ("own_rr", "block=own_rr+warp=gto", {"block": "own_rr"}):
        with pytest.raises(raddle.InputError, match=text):
            simulator.compare("bfs", [named, FirstSm], **keywords)
    one = simulator.run("bfs", policy={"block": RoundRobin}, **keywords).cycles
    other = simulator.run("bfs", policy={"block": FirstSm}, **keywords).cycles
    assert one != other, "the later one takes the place, call by call"
    found = simulator.compare("bfs", ["own_rr", "rr"], **keywords)
    assert found["own_rr"].cycles == other


def test_a_name_that_was_made_is_not_inherited(simulator):
    first = type("First", (RoundRobin,), {"name": ""})
    second = type("Second", (first,), {})
    simulator.add_policy(first)
    assert simulator.add_policy(second).name == "own_rr", "as the class above says"
    plain = type("Plain", (raddle.WarpPolicy,), {})
    derived = type("Derived", (plain,), {})
    simulator.add_policy(plain)
    simulator.add_policy(derived)
    assert (plain.name, derived.name) == ("plain", "derived")
    for base in (raddle.WarpPolicy, raddle.BlockPolicy):
        with pytest.raises(raddle.InputError, match="expected a class of your own"):
            simulator.add_policy(base)
        assert base.name == ""


def test_parameters_that_are_replaced_are_those_of_the_next_run(simulator):
    own = type("Own", (RoundRobin,), {"name": "own", "most": raddle.parameter(3, "a number")})

    def told():
        return simulator.run("vecadd", size="tiny", policy={"block": own}).policies.block.parameters

    assert told() == {"most": 3}
    own.most = raddle.parameter(7, "a number")
    assert told() == {"most": 7}


def test_hooks_of_the_object_are_called(simulator):
    done = []

    class Own(RoundRobin):
        name = "with_own_hook"

        def __init__(self, context):
            super().__init__(context)
            self.on_block_done = lambda sm, block, slot: done.append(block)

    result = simulator.run("vecadd", size="tiny", policy={"block": Own})
    assert len(done) == len(result.blocks.block)


def test_what_a_policy_declares_must_hold():
    for declare in (lambda: raddle.parameter(8, "a number", low=10),
                    lambda: raddle.parameter(8.5, "a number", high=8),
                    lambda: raddle.parameter(3, "a number", low=1.5),
                    lambda: raddle.statistic("a number", start=5),
                    lambda: raddle.statistic("a number", start=True)):
        with pytest.raises(ValueError):
            declare()


def test_a_policy_of_a_program_is_named_in_every_form(tmp_path, command):
    with pytest.raises(raddle.InputError, match="there is no program"):
        raddle.exec([tmp_path / "nowhere"], policy={"warp": {"name": "gto"}})
    for words in ("./app", []):
        with pytest.raises(raddle.InputError, match="a program and its arguments as a list"):
            raddle.exec(words)
    for jobs in (0, -1, 1.5):
        with pytest.raises(raddle.InputError, match="--jobs"):
            raddle.experiment(ROOT / "experiments/demo/warps.toml", results=tmp_path, jobs=jobs)


def test_words_behind_a_program_are_its_own(tmp_path, monkeypatch):
    called = tmp_path / "words"
    fake = tmp_path / "raddle"
    fake.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" > {called}\n')
    monkeypatch.setattr("raddle._program.program", lambda: str(fake))
    fake.chmod(0o755)
    for program in (["./app", "-n", "100"], ["./app", "--quiet"], ["vecadd"]):
        with pytest.raises(raddle.InputError, match="there is no recording"):
            raddle.record_program(program, tmp_path / "app.rdl")
        words = called.read_text().splitlines()
        assert words[words.index("--") + 1:] == program
