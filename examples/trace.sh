#!/bin/sh
# A SASS trace of Accel-Sim, taken on a real GPU, under other schedulers. Usage: examples/trace.sh [kernelslist.g]
# What to see: traces stand where workloads do; what was not understood in it is told by `raddle replay`.
set -eu
raddle=${RADDLE:-build/release/raddle}
trace=${1:-$(dirname "$0")/../tests/data/accelsim/kernelslist.g}
"$raddle" replay "$trace" --gpu v100
"$raddle" compare "$trace" --gpu v100 --policies lrr,gto
