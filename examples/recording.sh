#!/bin/sh
# Record once, ask many questions of the recording. Usage: examples/recording.sh [FOLDER]
# What to see: the same accesses under three schedulers, in larger caches, and who hits on whose lines.
set -eu
raddle=${RADDLE:-build/release/raddle}
out=${1:-.}
"$raddle" record bfs size=tiny --gpu gtx480 --quiet -o "$out/bfs.rdl"
"$raddle" compare "$out/bfs.rdl" --gpu gtx480 --policies lrr,gto,gto+ccws --report "$out/bfs.html"
"$raddle" compare "$out/bfs.rdl" --gpu gtx480 --policies gto,gto+swl --sweep policy.throttle.limit=2..8:2
"$raddle" analyze cache "$out/bfs.rdl" --gpu gtx480 --size-kib 16,64
"$raddle" analyze locality "$out/bfs.rdl" --gpu gtx480
