#!/bin/sh
# A paper's experiment with another program in it: figure 7 of CCWS (performance of cache-sensitive kernels) with a
# recording in the place of kmn. Usage: examples/papers_figure.sh [RECORDING.rdl [FOLDER]]
# What to see: the figure's table. The paper's numbers and verdicts do not apply and are left out.
# Here it is an experiment of seconds, demo.warps; write ccws.fig7 and kmn for the paper's.
set -eu
raddle=${RADDLE:-build/release/raddle}
out=${2:-.}
recording=${1:-}
if [ -z "$recording" ]; then
  recording=$out/mine.rdl
  "$raddle" record kmeans size=tiny --gpu gtx480 --quiet -o "$recording"
fi
"$raddle" reproduce demo.warps --with "bfs=$recording" --results "$out/raddle-results"
