#!/bin/sh
# Record once, ask many questions of the recording. Usage: examples/recording.sh [FOLDER [SIZE]]
# What to see: the same accesses under three schedulers and four limits of running warps (two are twice as fast as all), in
# larger caches (64 KiB hold what 16 do not), and who hits on whose lines.
set -eu
raddle=${RADDLE:-build/release/raddle}
out=${1:-.}
size=${2:-small}
"$raddle" record spmv size="$size" --gpu gtx480 --quiet -o "$out/spmv.rdl"
"$raddle" compare "$out/spmv.rdl" --gpu gtx480 --policies lrr,gto,gto+ccws --report "$out/spmv.html"
"$raddle" compare "$out/spmv.rdl" --gpu gtx480 --policies gto,gto+swl --sweep policy.throttle.limit=2..8:2
"$raddle" analyze cache "$out/spmv.rdl" --gpu gtx480 --size-kib 16,64,256
"$raddle" analyze locality "$out/spmv.rdl" --gpu gtx480
