"""Several threads of Python: one GPU of one thread at a time, and the end of the program."""

import subprocess
import sys
import threading

import numpy as np
import pytest
from test_launch import SAXPY

import raddle


def test_a_gpu_is_of_one_thread_at_a_time():
    gpu, refused, wrong = raddle.Gpu(gpu="gtx480"), [], []

    def use(number):
        try:
            for _ in range(20):
                saxpy = gpu.load(SAXPY)["saxpy"]
                x, y = (gpu.array(np.full(256, number, np.float32)) for _ in range(2))
                saxpy[2, 128](x, y, 1.0, 256)
                if (y.get() != 2 * number).any():
                    wrong.append(number)
        except raddle.RunError as error:
            refused.append(str(error))

    threads = [threading.Thread(target=use, args=(number,)) for number in range(1, 5)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert not wrong and set(refused) <= {"another thread is using this GPU"}
    assert len(refused) < 4, "whoever has it goes on"
    assert gpu.finish().cycles > 0


def test_a_policy_does_not_launch_on_the_gpu_that_asks_it():
    shared, told = {}, []

    class Launching(raddle.BlockPolicy):
        """launches from pick()"""

        def __init__(self, context):
            self.left = {}

        def on_launch(self, launch):
            self.left[launch.slot] = iter(range(launch.blocks))

        def pick(self, view):
            if not told:
                try:
                    shared["kernel"][1, 32](*shared["arguments"])
                except raddle.RunError as error:
                    told.append(str(error))
            block = next(self.left[view.slot], None) if view.free_sms else None
            return None if block is None else (raddle.lowest(view.free_sms), block)

    gpu = raddle.Gpu(gpu="gtx480", policy={"block": Launching})
    x, y = (gpu.array(np.ones(5120, np.float32)) for _ in range(2))
    shared.update(kernel=gpu.load(SAXPY)["saxpy"], arguments=(x, y, 1.0, 5120))
    shared["kernel"][40, 128](*shared["arguments"])
    gpu.synchronize()
    assert "this GPU is at work" in told[0]
    assert (y.get() == 2).all() and len(gpu.finish().kernels) == 1, "what is refused does not run"


def test_policies_may_be_registered_while_another_thread_runs():
    simulator, done = raddle.Simulator(), threading.Event()

    def run():
        for _ in range(10):
            simulator.compare("vecadd", ["lrr", "gto"], size="tiny", gpu="gtx480")
        done.set()

    thread = threading.Thread(target=run)
    thread.start()
    count = 0
    while not done.is_set() and thread.is_alive():
        simulator.add_policy(type(f"Own{count}", (raddle.WarpPolicy,), {}))
        count += 1
    thread.join()
    assert done.is_set() and f"own{count - 1}" in simulator.policies().warp


PROGRAM = """
import sys, threading, time
import raddle

class Lowest(raddle.WarpPolicy):
    def pick(self, view):
        return raddle.lowest(view.ready)

def run():
    while True:
        raddle.run("bfs", size="small", gpu="gtx480", **keywords)

keywords = {%s}
threading.Thread(target=run, daemon=True).start()
time.sleep(0.7)
sys.exit(3)
"""


@pytest.mark.parametrize("keywords", ["", "'policy': {'warp': Lowest}",
                                      "'progress': lambda now: None", "'threads': 2"])
def test_a_program_ends_as_it_wants_while_a_thread_simulates(keywords):
    done = subprocess.run([sys.executable, "-c", PROGRAM % keywords], capture_output=True,
                          text=True, timeout=60)
    assert done.returncode == 3 and done.stderr == "", done.stderr


def test_what_runs_at_the_end_may_simulate():
    code = ("import atexit\n"
            "atexit.register(lambda: print(raddle.run('vecadd', size='tiny').correct))\n"
            "import raddle\n")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0 and done.stdout == "True\n", done.stderr
