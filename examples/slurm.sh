#!/bin/sh
# A sweep on a Slurm cluster. Usage: examples/slurm.sh FILE.toml [FOLDER] [SBATCH OPTION ...]
# FOLDER must be one that all nodes see. Started again after a lost connection, it goes on where it was.
# What to see: the same results as without --executor slurm, from as many nodes as there are.
set -eu
raddle=${RADDLE:-build/release/raddle}
file=$1
out=${2:-$HOME/raddle-results}
[ $# -lt 2 ] || shift
shift
"$raddle" sweep "$file" --check
exec "$raddle" sweep "$file" --executor slurm --slurm-options "$*" --results "$out"
