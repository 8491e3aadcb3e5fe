"""Policies in Python: the same run as the equal ones in C++, and what happens to bad ones."""

import subprocess
import sys

import ported
import pytest

import raddle
from raddle import lowest, parameter, statistic


EQUAL = [
    (ported.RoundRobin, "bfs", {"gpu": "gtx480"}, {}),
    (ported.RoundRobin, "bfs", {"gpu": "gtx480"}, {"reset": True}),
    (ported.Fcfs, "streams", {"gpu": "v100"}, {}),
    (ported.DispatchRr, "streams", {"gpu": "laperm"}, {}),
    (ported.Random, "srad", {"gpu": "latoa"}, {"interval": 50, "transfer": "free"}),
    (ported.Gto, "bfs", {"gpu": "gtx480"}, {}),
]


@pytest.mark.parametrize("policy, workload, settings, parameters", EQUAL,
                         ids=lambda one: getattr(one, "__name__", ""))
def test_a_policy_does_what_the_same_in_cpp_does(simulator, policy, workload, settings, parameters):
    spec = {policy.level: {"name": policy.name, **parameters}}
    cpp = simulator.run(workload, size="tiny", policy=spec, **settings)
    simulator.add_policy(policy, replace=True)
    python = simulator.run(workload, size="tiny", policy=spec, **settings)
    assert python.policies == cpp.policies
    assert python.state_hash == cpp.state_hash


@pytest.mark.parametrize("parameters", [{"blocks_0": 1, "blocks_1": 2},
                                        {"requests_0": 3, "priority_1": 1, "interval": 100}])
def test_a_scheme_does_what_the_same_in_cpp_does(simulator, parameters):
    def run():
        return simulator.corun(["vecadd size=tiny", "spmv size=tiny"], 20_000, gpu="ccbp",
                               policy={"scheme": {"name": "static", **parameters}})

    cpp = run()
    simulator.add_policy(ported.Static, replace=True)
    assert run().state_hash == cpp.state_hash
    free = simulator.corun(["vecadd size=tiny", "spmv size=tiny"], 20_000, gpu="ccbp")
    assert free.state_hash != cpp.state_hash, "the scheme does something"


def test_threads_do_not_change_what_a_policy_does(simulator):
    simulator.add_policy(ported.Gto, replace=True)
    one, two = (simulator.run("bfs", size="tiny", gpu="gtx480", threads=n) for n in (1, 2))
    assert one.state_hash == two.state_hash


class Youngest(raddle.WarpPolicy):
    """the highest ready slot, now and then the lowest

    More that is not told."""

    every = parameter(100, "the lowest, after so many others", low=1, high=1000, unit="picks")
    other = statistic("took the lowest slot", "decisions")
    share = statistic("a number", start=0.0)

    def __init__(self, context):
        assert context.slots > 0 and context.first_slot % context.slots == 0
        self.count = 0

    def pick(self, view):
        self.count += 1
        self.share += 0.5
        if self.count % self.every == 0:
            self.other += 1
            return lowest(view.ready)
        return view.ready.bit_length() - 1


def test_a_class_goes_where_a_name_goes(simulator):
    of_class = simulator.run("vecadd", size="tiny", gpu="gtx480", policy={"warp": Youngest})
    by_name = simulator.run("vecadd", size="tiny", gpu="gtx480", policy={"warp": "youngest"})
    assert of_class.state_hash == by_name.state_hash
    assert simulator.policies().warp.youngest == "the highest ready slot, now and then the lowest"
    told = of_class.policies.warp
    assert told.name == "youngest" and told.parameters == {"every": 100}
    assert told.statistics.other > 0 and told.statistics.share > 0
    assert told.meaning.statistics.other.doc == "took the lowest slot"
    assert of_class.config.policy.warp == {"name": "youngest", "every": 100}
    often = simulator.run("vecadd", size="tiny", gpu="gtx480",
                          policy={"warp": {"name": Youngest, "every": 2}})
    assert often.policies.warp.statistics.other > told.statistics.other
    again = simulator.run("vecadd", size="tiny", gpu="gtx480", policy={"warp": Youngest})
    assert again.state_hash == of_class.state_hash, "parameters do not stay"


def test_policies_are_compared_by_name_and_class(simulator):
    found = simulator.compare("vecadd size=tiny", ["gto", Youngest, {"warp": "lrr"}], gpu="gtx480")
    assert [one.label for one in found] == ["gto", "warp=youngest", "warp=lrr"]
    assert found["warp=youngest"].policies.warp.name == "youngest"


def test_parameters_are_checked_as_those_of_the_program(simulator):
    with pytest.raises(raddle.InputError, match=r"every.*1000.*5000"):
        simulator.run("vecadd", size="tiny", policy={"warp": {"name": Youngest, "every": 5000}})
    with pytest.raises(raddle.InputError, match="evry"):
        simulator.run("vecadd", size="tiny", policy={"warp": {"name": Youngest, "evry": 5}})
    simulator.add_policy(ported.Random, replace=True)
    with pytest.raises(raddle.InputError, match="noc.topology must be"):
        simulator.run("vecadd", size="tiny", gpu="v100", policy={"migrate": "random"})


def test_names_are_not_taken_by_chance(simulator):
    with pytest.raises(raddle.InputError, match="two policies are called 'gto'"):
        simulator.add_policy(ported.Gto)
    first = type("Mine", (Youngest,), {"name": "mine"})
    second = type("Mine", (Youngest,), {"name": "mine", "__doc__": "the second"})
    simulator.add_policy(first)
    simulator.add_policy(second)  # as when a notebook's cell runs again
    assert simulator.policies().warp.mine == "the second"
    with pytest.raises(ValueError, match="level 'warp', not 'block'"):
        simulator.run("vecadd", policy={"block": Youngest})


class Failing(raddle.BlockPolicy):
    """fails at its tenth block"""

    def on_launch(self, launch):
        self.block = 0

    def pick(self, view):
        if self.block == 10:
            raise KeyError("a fault of mine")
        self.block += 1
        return lowest(view.free_sms), self.block - 1


@pytest.mark.parametrize("threads", [1, 2])
def test_an_exception_ends_the_run_with_its_traceback(simulator, threads):
    with pytest.raises(KeyError, match="a fault of mine") as caught:
        simulator.run("vecadd", size="tiny", policy={"block": Failing}, threads=threads)
    assert caught.traceback[-1].name == "pick"
    assert simulator.run("vecadd", size="tiny").correct, "the next run is as always"


def bad(level, hook, answer):
    def answers(self, *_):
        return answer
    base = {one.level: one for one in (raddle.BlockPolicy, raddle.WarpPolicy, raddle.KernelPolicy,
                                       raddle.DispatchPolicy)}[level]
    return type("Bad", (base,), {"name": "bad", hook: answers})


@pytest.mark.parametrize("level, answer, error, text", [
    ("warp", 77, raddle.RunError, "policy 'warp=bad' answers wrongly"),
    ("warp", None, TypeError, "a warp slot"),
    ("warp", -1, TypeError, "a warp slot"),
    ("block", (1000, 0), raddle.RunError, "answers wrongly"),
    ("block", 3, TypeError, "expected .sm, block."),
    ("kernel", 200, raddle.RunError, "policy 'kernel=bad' answers wrongly"),
    ("dispatch", (0, 0, 500), raddle.RunError, "policy 'dispatch=bad' answers wrongly"),
    ("dispatch", (99, 0, 0), ValueError, "there is no grid 99"),
])
def test_answers_that_cannot_be_are_told(simulator, level, answer, error, text):
    with pytest.raises(error, match=text):
        simulator.run("vecadd", size="tiny", policy={level: bad(level, "pick", answer)})


@pytest.mark.parametrize("answer, text", [
    ((99, 0, 0, True), "accesses the queue of a grid that is there"),
    ((2**32 - 1, 0, 0, True), "accesses the queue of a grid that is there"),
    ((0, 999, 0, True), "accesses its queues through an SM that is there"),
    ((0, 0, 1, False), "has no more to access.. after 1048576 times in one cycle"),
])
def test_accesses_to_queues_that_cannot_be_are_told(simulator, answer, text):
    policy = type("Bad", (ported.DispatchRr,), {"name": "bad", "access": lambda self: answer})
    with pytest.raises(raddle.RunError, match="policy 'dispatch=bad' answers wrongly.*" + text):
        simulator.run("nested_bfs", size="tiny", gpu="laperm", policy={"dispatch": policy})


@pytest.mark.parametrize("interface, gpu, text", [
    (raddle.WarpPolicy, "gtx480", r"a warp policy has pick\(view\)"),
    (raddle.BlockPolicy, "gtx480", r"a block policy has pick\(view\)"),
    (raddle.KernelPolicy, "gtx480", r"a kernel policy has pick\(view\)"),
    (raddle.DispatchPolicy, "gtx480", r"a dispatch policy has pick\(view\)"),
    (raddle.MigratePolicy, "latoa", r"a migrate policy has look\(view\)"),
    (raddle.SchemePolicy, "ccbp", r"a scheme has look\(view, knobs\)"),
])
def test_a_policy_without_its_deciding_hook_says_which(simulator, interface, gpu, text):
    lacking = type("Lacking", (interface,), {"name": "lacking", "pik": lambda self, view: None})
    with pytest.raises(NotImplementedError, match=text):
        if interface is raddle.SchemePolicy:
            simulator.corun(["vecadd size=tiny", "spmv size=tiny"], 10_000, gpu=gpu,
                            policy={"scheme": lacking})
        else:
            simulator.run("vecadd", size="tiny", gpu=gpu, policy={interface.level: lacking})


def test_schemes_that_stop_a_tenant_are_told(simulator):
    class Starving(raddle.SchemePolicy):
        """no block may issue"""

        def look(self, view, knobs):
            assert view.has(0) and view.tenant[0].counts.instructions == 0
            knobs.tenant[1].active_blocks = 0

    with pytest.raises(raddle.RunError, match="scheme=starving.*lets at least one block issue"):
        simulator.corun(["vecadd size=tiny", "spmv size=tiny"], 10_000, gpu="ccbp",
                        policy={"scheme": Starving})


def test_a_view_is_gone_after_its_call(simulator):
    kept = []

    class Keeping(raddle.BlockPolicy):
        """keeps its view"""

        def __init__(self, context):
            self.block = 0

        def pick(self, view):
            kept.append(view)
            self.block += 1
            return lowest(view.free_sms), self.block - 1

    simulator.run("vecadd", size="tiny", policy={"block": Keeping})
    with pytest.raises(ValueError, match="a view holds during the call"):
        kept[0].now


def test_levels_that_are_asked_too_often_are_refused(simulator):
    class Replacing(raddle.Policy):
        level, name = "replacement", "mine"

    with pytest.raises(raddle.InputError, match="'replacement' is asked too often"):
        simulator.add_policy(Replacing)


def test_the_process_ends_in_peace_with_policies_alive():
    code = ("import raddle, ported\n"
            "raddle.register(ported.Gto, replace=True)\n"
            "print(raddle.run('vecadd', size='tiny').correct)")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True,
                          cwd=ported.__file__.rsplit("/", 1)[0])
    assert (done.returncode, done.stdout, done.stderr) == (0, "True\n", "")


@pytest.mark.parametrize("hook, answer, text", [
    ("search_cycles", 2**64 - 1, "policy 'dispatch=own' answers wrongly.*less than 2.32 cycles"),
    ("search_cycles", 2**63, "policy 'dispatch=own' answers wrongly"),
    ("admit", 0, "policy 'dispatch=own' answers wrongly.*admits a grid that pends"),
])
def test_answers_of_dispatch_that_cannot_be_are_told(simulator, hook, answer, text):
    own = type("Own", (ported.DispatchRr,), {"name": "own", hook: lambda self, *given: answer})
    with pytest.raises(raddle.RunError, match=text):
        simulator.run("nested_bfs", size="tiny", gpu="laperm", policy={"dispatch": own})


@pytest.mark.parametrize("answer", [None, 2**64 - 1, 2**64 - 2])
def test_a_scheme_that_looks_late_is_asked_once(simulator, answer):
    asked = []

    class Late(raddle.SchemePolicy):
        """looks once"""

        def look(self, view, knobs):
            asked.append(view.now)
            return answer

    simulator.corun(["sgemm size=tiny", "spmv size=tiny"], 5_000, gpu="ccbp",
                    policy={"scheme": Late}, alone=False)
    assert len(asked) < 5
