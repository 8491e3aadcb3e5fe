#!/usr/bin/env python3
"""Results in Python: every number of a sweep from its database, without other packages.

    raddle sweep examples/warp_schedulers.toml --results r
    examples/results.py r

What to see: for each study, and each point of its axes, a table of the IPC, and for each workload what most
scheduler-cycles were lost to. The view `tidy` has a row for each number; its columns are experiment, scale, workload,
variant, point, metric, value.
"""
import sqlite3
import sys

PLACE = "experiment, point, workload, variant"


def table(ipc):
    variants = sorted({variant for row in ipc.values() for variant in row})
    print("  IPC".ljust(24) + "".join(v.rjust(24) for v in variants))
    for workload, row in ipc.items():
        print("  " + workload.ljust(22) + "".join(f"{row[v]:24.2f}" if v in row else "-".rjust(24) for v in variants))


def main(folder):
    database = sqlite3.connect(f"file:{folder}/results.sqlite?mode=ro", uri=True)
    studies = {}
    for experiment, point, workload, variant, value in database.execute(
            f"SELECT {PLACE}, value FROM tidy WHERE metric = 'totals.ipc' ORDER BY experiment, point, workload"):
        studies.setdefault((experiment, point), {}).setdefault(workload, {})[variant] = value
    lost = {}
    for experiment, point, workload, variant, stall, cycles in database.execute(
            f"SELECT {PLACE}, substr(metric, 8), max(value) FROM tidy WHERE metric GLOB 'stalls.*' "
            "AND metric <> 'stalls.issued' GROUP BY experiment, point, workload, variant"):
        lost.setdefault((experiment, point), []).append(
            f"  {workload} under {variant}: most lost to {stall}, {cycles:,.0f} scheduler-cycles")
    for (experiment, point), ipc in studies.items():
        print(experiment + (f" at {point}" if point != "{}" else ""))
        table(ipc)
        print("\n".join(lost.get((experiment, point), [])))


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
