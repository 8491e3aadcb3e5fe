#!/usr/bin/env bash
# Instructions that fixed runs of the release build take, by callgrind, against data/speed/instructions.txt: more than
# 1 % above it is a failure. `--write` takes the present figures over; docs/performance.md then says why they changed.
# Instructions do not depend on what else the machine does, so they show what a rate hides.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# shellcheck source=scripts/common.sh
source scripts/common.sh

mode=${1:-}
[ -z "$mode" ] || [ "$mode" = --write ] || fail "counts: unknown argument '$mode' (only --write)"
kept=data/speed/instructions.txt
command -v valgrind >/dev/null || {
  say "counts: skipped, there is no valgrind"
  exit 0
}

# Executed lanes are those of AVX2: valgrind knows no more.
instructions_of() {
  # shellcheck disable=SC2086  # words of one command line
  RADDLE_LANES=avx2 valgrind --tool=callgrind --callgrind-out-file=/dev/null build/release/raddle run $1 --quiet 2>&1 |
    sed -n 's/^==[0-9]*== Collected : \([0-9]*\)$/\1/p'
}

new=build/instructions.txt
worse=0
grep '^#' $kept >$new
while read -r was run; do
  now=$(instructions_of "$run")
  [ -n "$now" ] || fail "counts: 'raddle run $run' was not counted"
  printf '%s %s\n' "$now" "$run" >>$new
  printf '%14s %14s %+7.2f %%  %s\n' "$was" "$now" "$(awk "BEGIN { print 100 * ($now / $was - 1) }")" "$run"
  awk "BEGIN { exit !($now > 1.01 * $was) }" && worse=1
done < <(grep -v '^#' $kept)
if [ "$mode" = --write ]; then
  mv $new $kept
  say "counts: $kept written; docs/performance.md should say why"
elif [ $worse = 1 ]; then
  fail "counts: more instructions than $kept says: make them fewer, or take them over (scripts/counts.sh --write) with a line in docs/performance.md that says why"
fi
