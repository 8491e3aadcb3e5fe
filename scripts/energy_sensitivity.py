#!/usr/bin/env python3
"""How much energy and its ratio between two warp schedulers depend on each cost of the machine's table.

  energy_sensitivity.py build/release/raddle [--gpu v100] [WORKLOAD...]

Energy is linear in every cost, so as many runs per workload and scheduler, each with one cost of every
component left and the others at 0, give the energy that each cost stands for; halving and doubling
follow exactly. lane_pj counts as one cost."""
import argparse
import json
import subprocess

ONLY = [  # component: the cost that is left in runs 1, 2 ...
    ("front_end", ["instruction_pj"]),
    ("register_file", ["register_read_pj", "register_write_pj"]),
    ("lanes", ["lane_pj"]),
    ("constant", ["constant_pj"]),
    ("shared", ["shared_pass_pj"]),
    ("l1d", ["l1d_probe_pj", "l1d_read_pj", "l1d_write_pj"]),
    ("noc", ["flit_hop_pj"]),
    ("l2", ["l2_read_pj", "l2_write_pj"]),
    ("dram", ["dram_read_byte_pj", "dram_write_byte_pj", "dram_activate_pj", "dram_refresh_pj"]),
    ("static_cores", ["core_active_pj", "core_stalled_pj", "core_idle_pj"]),
    ("static_l2", ["l2_slice_pj"]),
    ("static_chip", ["chip_pj"]),
]


def energy_by_cost(raddle, gpu, workload, scheduler):
    by_cost = {}
    for turn in range(max(len(costs) for _, costs in ONLY)):
        zero = [c for _, costs in ONLY if len(costs) > 1 for i, c in enumerate(costs) if i != turn]
        command = [raddle, "run", workload, "size=small", "--gpu", gpu, "--policy",
                   "warp=" + scheduler, "--json", "-", "--quiet"]
        for cost in zero:
            command += ["--set", f"energy.{cost}=0"]
        out = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        result = json.loads(out[out.index("{"):])
        for component, costs in ONLY:
            if turn < len(costs):
                by_cost[costs[turn]] = result["energy_pj"][component]
    return by_cost


def main():
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("raddle")
    options.add_argument("workloads", nargs="*", default=["vecadd", "sgemm", "bfs"])
    options.add_argument("--gpu", default="v100")
    args = options.parse_args()
    runs = {w: [energy_by_cost(args.raddle, args.gpu, w, s) for s in ("lrr", "gto")]
            for w in args.workloads}
    print("| cost |" + "".join(f" {w}: total x0.5, x2 | {w}: gto/lrr x0.5, x1, x2 |" for w in runs))
    print("|---|" + "---|---|" * len(runs))
    for cost in [c for _, costs in ONLY for c in costs]:
        row = f"| `{cost}` |"
        for both in runs.values():
            share = both[0][cost] / sum(both[0].values())
            ratios = []
            for factor in (0.5, 1, 2):
                lrr, gto = (sum(r.values()) + (factor - 1) * r[cost] for r in both)
                ratios.append(f"{gto / lrr:.3f}")
            row += f" {-50 * share:.1f} %, +{100 * share:.1f} % | {', '.join(ratios)} |"
        print(row)


if __name__ == "__main__":
    main()
