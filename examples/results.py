#!/usr/bin/env python3
"""Results in Python: every number of a sweep from its database, without other packages.

    raddle sweep examples/warp_schedulers.toml --results r
    examples/results.py r

What to see: a table of the IPC, and for each workload what most scheduler-cycles were lost to. The view `tidy`
has a row for each number; its columns are experiment, scale, workload, variant, point, metric, value.
"""
import sqlite3
import sys


def main(folder):
    database = sqlite3.connect(f"file:{folder}/results.sqlite?mode=ro", uri=True)
    ipc = {}
    for workload, variant, value in database.execute(
            "SELECT workload, variant, value FROM tidy WHERE metric = 'totals.ipc' ORDER BY workload, variant"):
        ipc.setdefault(workload, {})[variant] = value
    variants = sorted({v for row in ipc.values() for v in row})
    print("IPC".ljust(16) + "".join(v.rjust(24) for v in variants))
    for workload, row in ipc.items():
        print(workload.ljust(16) + "".join(f"{row.get(v, float('nan')):24.2f}" for v in variants))
    lost = database.execute(
        "SELECT workload, variant, substr(metric, 8), max(value) FROM tidy "
        "WHERE metric GLOB 'stalls.*' AND metric <> 'stalls.issued' GROUP BY workload, variant")
    for workload, variant, stall, cycles in lost:
        print(f"{workload} under {variant}: most lost to {stall}, {cycles:,.0f} scheduler-cycles")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
