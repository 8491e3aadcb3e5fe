#!/bin/sh
# A CUDA program of one's own under five schedulers. Usage: examples/own_program.sh [PROGRAM.cu [ARGUMENT ...]]
# Needs nvcc; no GPU. What to see: the table, and the same as a page: own_program.html.
set -eu
raddle=${RADDLE:-build/release/raddle}
out=${OUT:-.}
source=${1:-$(dirname "$0")/cuda/matmul.cu}
[ $# -eq 0 ] || shift
nvcc -cudart shared -gencode arch=compute_75,code=compute_75 -o "$out/program" "$source"
"$raddle" compare --gpu v100 --policies lrr,gto,two_level:group_size=4,oldest,gto+swl:limit=8 \
  --report "$out/own_program.html" -- "$out/program" "$@"
