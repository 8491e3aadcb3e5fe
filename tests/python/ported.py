"""Policies of the program once more in Python, statistics and all."""

import raddle
from raddle import first_from, lowest, parameter, statistic


class RoundRobin(raddle.BlockPolicy):
    """round robin: blocks in order, each to the next SM with room"""

    name = "rr"
    reset = parameter(False, "a launch on an idle machine starts at SM 0")
    launches = statistic("kernels handed out", "launches")
    blocks = statistic("blocks handed out", "blocks")
    stayed = statistic("blocks on the SM where the same block of the launch before, of the same "
                       "grid, ran", "blocks")
    imbalance = statistic("most blocks of an SM less the fewest, summed over launches", "blocks")
    skips = statistic("the SM whose turn it was had no room", "blocks")

    def __init__(self, context):
        self.sms = context.sms
        self.first_turn = self.turn = 0
        self.under_way = {}
        self.last = (None, {})

    def on_launch(self, launch):
        self.launches += 1
        if not self.under_way:
            self.turn = 0 if self.reset else self.first_turn
        self.under_way[launch.slot] = [0, launch.blocks, launch.grid, {}, [0] * self.sms]

    def pick(self, view):
        launch = self.under_way[view.slot]
        block, blocks, grid, places, given = launch
        if block == blocks:
            return None
        sm = first_from(view.free_sms, self.turn)
        self.skips += sm != self.turn
        self.turn = (sm + 1) % self.sms
        launch[0] += 1
        self.blocks += 1
        given[sm] += 1
        places[block] = sm
        self.stayed += self.last[0] == grid and self.last[1].get(block) == sm
        return sm, block

    def on_block_done(self, sm, block, slot):
        self.first_turn = (sm + 1) % self.sms

    def on_kernel_end(self, slot):
        _, _, grid, places, given = self.under_way.pop(slot)
        self.last = (grid, places)
        self.imbalance += max(given) - min(given)


class Fcfs(raddle.KernelPolicy):
    """oldest kernel first, leftover room to the next"""

    name = "fcfs"
    launches = statistic("kernels that took an entry", "launches")
    held = statistic("a block of a younger kernel would have fitted, none of the oldest did",
                     "cycles")

    def on_launch(self, launch):
        self.launches += 1

    def pick(self, view):
        slot = view.oldest(view.waiting)
        if view.fits >> slot & 1:
            return slot
        self.held += 1
        return None


class DispatchRr(raddle.DispatchPolicy):
    """kernels in order of their launch, then the groups that joined them; SMs in turn"""

    name = "rr"
    table = parameter(1024, "that have a place on the chip", low=1, high=1 << 20, unit="groups")
    groups = statistic("launches that joined a kernel under way", "groups")
    child_blocks = statistic("of kernels and groups that kernels launched", "blocks")
    with_parent = statistic("of these, on the SM of the block that launched them", "blocks")
    adopted = statistic("given to another SM than the one they were bound to", "blocks")
    overflows = statistic("that found no place on the chip", "entries")
    longest = statistic("in the distributor's longest queue at most; of rr and tb_pri, whose "
                        "kernels have none, groups; what pends for an entry of the distributor is "
                        "in none", "entries")
    entry_cycles = statistic("in all these queues, summed over time", "entries * cycles")
    held = statistic("the block whose turn it was did not fit", "cycles")

    def __init__(self, context):
        self.sms, self.turn = context.sms, 0
        self.next = {}
        self.order = []

    def on_begin(self, grid, now):
        self.next[grid] = 0
        self.order.append(grid)

    def pick(self, view):
        grid = next((one for one in self.order if view.has_blocks(one)), None)
        if grid is None:
            return None
        free = view.free_sms(grid)
        if not free:
            self.held += 1
            return None
        sm = first_from(free, self.turn)
        self.turn = (sm + 1) % self.sms
        block = self.next[grid]
        self.next[grid] += 1
        return grid, block, sm

    def on_grid_end(self, grid):
        self.order.remove(grid)


class Static(raddle.SchemePolicy):
    """at most so many blocks, and requests, of each tenant on every SM"""

    name = "static"
    for _name, _doc, _high, _unit in (
            ("blocks", "most blocks that an SM holds; 0 = as many as fit", 64, "blocks"),
            ("requests", "that each SM may send to the L2 in each interval; 0 = no limit", 100_000,
             "requests"),
            ("priority", "higher goes first among requests where some are limited", 255, "")):
        for _tenant in range(8):
            locals()[f"{_name}_{_tenant}"] = parameter(
                0, f"tenant {_tenant}: {_doc}", low=0, high=_high, unit=_unit)
    interval = parameter(200, "in which requests are counted", low=1, high=100_000,
                         unit="NoC cycles")

    def __init__(self, context):
        self.context = context

    def of(self, name):
        return [getattr(self, f"{name}_{tenant}") for tenant in range(8)]

    def look(self, view, knobs):
        for tenant, caps in enumerate(self.of("blocks")):
            if caps:
                knobs.tenant[tenant].block_cap = [caps] * self.context.sms
        if not any(self.of("requests")):
            return
        knobs.token_interval = self.interval
        there = [tenant for tenant in range(8) if view.present >> tenant & 1]
        for tenant in there:
            knob = knobs.tenant[tenant]
            if requests := self.of("requests")[tenant]:
                knob.request_tokens = requests
            knob.miss_queue = max(1, self.context.miss_queue // len(there))
            knob.lsu_queue = max(1, self.context.lsu_queue // len(there))
            knob.priority = self.of("priority")[tenant]


class Rng:
    """As src/raddle/base/rng.h."""

    def __init__(self, seed, path):
        self.state = seed
        for letter in path.encode():
            self.state = (self.state ^ letter) * 0x100000001B3 & (1 << 64) - 1
        self.next()

    def next(self):
        self.state = self.state + 0x9E3779B97F4A7C15 & (1 << 64) - 1
        z = (self.state ^ self.state >> 30) * 0xBF58476D1CE4E5B9 & (1 << 64) - 1
        z = (z ^ z >> 27) * 0x94D049BB133111EB & (1 << 64) - 1
        return z ^ z >> 31

    def below(self, n):
        return (self.next() >> 32) * n >> 32


class Random(raddle.MigratePolicy):
    """every SM moves a warp now and then, to any other (a test)"""

    name = "random"
    interval = parameter(300, "between two rounds, in each of which every SM moves one warp if it "
                         "can", low=1, high=1_000_000, unit="cycles")
    signal_cycles = parameter(1, "until an SM knows of its neighbours' state, and between two "
                              "looks", low=1, high=32, unit="cycles")
    transfer = parameter("packets", "how contexts travel: packets of the network, or there at once "
                         "(a bound)", choices=("packets", "free"))
    shared = parameter("remote", "barriers and shared memory of warps abroad: at home over the "
                       "network, no such warp moves, or where the warp is (a bound)",
                       choices=("remote", "forbid", "free"))
    orphans = parameter("hold", "MSHRs whose loads have left while the request is on its way: "
                        "taken until the data come, or free at once", choices=("hold", "release"))
    registers = parameter("live", "which registers travel: those that hold what is read later, or "
                          "all", choices=("live", "all"))
    warps = statistic("that left an SM", "warps")
    warps_again = statistic("of these: from an SM that had adopted them", "warps")

    def __init__(self, context):
        self.rng, self.slots = Rng(context.seed, "migrate"), context.warps
        self.due = self.interval

    @classmethod
    def violations(cls, parameters, machine):
        return [] if machine.mesh else ["noc.topology must be \"mesh\""]

    def passage(self):
        return {"signal_cycles": self.signal_cycles, "transfer": self.transfer,
                "shared": self.shared, "orphans": self.orphans, "registers": self.registers}

    def look(self, view):
        if view.now < self.due:
            return self.due
        sms = len(view.mshrs)
        for sm in range(sms):
            to, first = self.rng.below(sms), self.rng.below(self.slots)
            for i in range(self.slots):
                slot = (first + i) % self.slots
                if view.resident(sm) >> slot & 1 == 0:
                    continue
                if not view.fits(sm, [slot], to) or not view.may_leave(sm, slot):
                    continue
                self.warps += 1
                self.warps_again += view.warp(sm, slot).adopted
                view.move(sm, slot, to)
                break
        self.due = (view.now // self.interval + 1) * self.interval
        return self.due


class Gto(raddle.WarpPolicy):
    """greedy then oldest: the same warp until it stalls, then the oldest ready one"""

    name = "gto"
    picks = statistic("asked which warp issues", "decisions")
    stayed = statistic("stayed with the warp issued last", "decisions")

    def __init__(self, context):
        self.greedy = 0

    def pick(self, view):
        self.picks += 1
        ready = view.ready
        if ready & self.greedy:
            self.stayed += 1
            return lowest(self.greedy)
        warp = view.oldest(ready)
        self.greedy = 1 << warp
        return warp

    def on_warp_end(self, slot):
        self.greedy &= ~(1 << slot)
