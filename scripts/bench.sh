#!/usr/bin/env bash
# Simulation speed: bench.sh [--json FILE]. Each workload at `small` on v100 with one host thread, minimum of three runs.
# The figures are the result JSON's own: totals.warp_instructions, host.timing_seconds, host.functional_seconds (which
# includes writing the op stream), host.peak_rss_bytes; k/cpu s is everything (execution, timing, reference) per second
# of processor time, which other users of the machine disturb least.
set -euo pipefail
caller=$PWD
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# shellcheck source=scripts/common.sh
source scripts/common.sh
# shellcheck source=scripts/setup.sh
source scripts/setup.sh

workloads=(vecadd sgemm hotspot bfs spmv kmeans)
runs=3
out=
while [ $# -gt 0 ]; do
  case $1 in
    --json)
      [ $# -ge 2 ] || fail "--json needs a file name"
      out=$2
      [[ $out == /* ]] || out=$caller/$out
      [ -d "$(dirname "$out")" ] || fail "cannot write $out: there is no such folder"
      shift 2
      ;;
    *) fail "bench: unknown argument '$1' (only --json FILE)" ;;
  esac
done

need build page bench
build_page
build_preset release raddle benchmarks

# measure WORKLOAD FILE: one run; its result with host.cpu_seconds, the processor time of the whole process.
measure() {
  local TIMEFORMAT='%U %S' cpu
  cpu=$({ time build/release/raddle run "$1" size=small --gpu v100 --threads 1 --quiet --json "$2.raw" >&2; } 2>&1)
  # shellcheck disable=SC2086  # two numbers
  jq --argjson user ${cpu% *} --argjson system ${cpu#* } '.host.cpu_seconds = $user + $system' "$2.raw" >"$2"
}

results=$(mktemp -d)
trap 'rm -rf "$results"' EXIT
for workload in "${workloads[@]}"; do
  say "bench: $workload, $runs runs"
  for ((i = 0; i < runs; i++)); do
    measure "$workload" "$results/$workload.$i.json"
  done
done

cpu=$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -1)
commit=$(git describe --always --dirty 2>/dev/null || echo unknown)
jq -s --arg cpu "$cpu" --arg commit "$commit" --argjson runs "$runs" '
  def geomean: (map(log) | add / length) | exp;
  (group_by(.workload.name) | map({
    workload: .[0].workload.name,
    result: (map(.workload.result) | unique | join(",")),
    cycles: .[0].totals.cycles,
    warp_instructions: .[0].totals.warp_instructions,
    timing_seconds: (map(.host.timing_seconds) | min),
    functional_seconds: (map(.host.functional_seconds) | min),
    cpu_seconds: (map(.host.cpu_seconds) | min),
    peak_rss_bytes: (map(.host.peak_rss_bytes) | max)
  } | . + {
    warp_instructions_per_cpu_second: (.warp_instructions / .cpu_seconds),
    timing_warp_instructions_per_second: (.warp_instructions / .timing_seconds),
    functional_warp_instructions_per_second: (.warp_instructions / .functional_seconds)
  })) as $rows
  | {schema: 1, cpu: $cpu, commit: $commit, gpu: "v100", size: "small", threads: 1, runs: $runs,
     workloads: $rows,
     geomean: {
       timing_warp_instructions_per_second: ($rows | map(.timing_warp_instructions_per_second) | geomean),
       functional_warp_instructions_per_second: ($rows | map(.functional_warp_instructions_per_second) | geomean),
       warp_instructions_per_cpu_second: ($rows | map(.warp_instructions_per_cpu_second) | geomean)},
     peak_rss_bytes: ($rows | map(.peak_rss_bytes) | max)}
' "$results"/*.json >"$results/bench"

say "$cpu, commit $commit, v100, size=small, one thread, minimum of $runs runs"
jq -r '
  def pad($n): tostring | if length < $n then (" " * ($n - length)) + . else . end;
  def thousands: . / 1e3 | round | pad(10);
  def rates: "\(.timing_warp_instructions_per_second | thousands)  \(
    .functional_warp_instructions_per_second | thousands)  \(.warp_instructions_per_cpu_second | thousands)";
  ("workload     warp instr.   timing s   timing k/s    exec k/s    k/cpu s   peak MiB  result"),
  (.workloads[] | "\(.workload + " " * (10 - (.workload | length)))  \(.warp_instructions | pad(12)) \(
    .timing_seconds * 1000 | round / 1000 | pad(10))   \(rates) \(
    .peak_rss_bytes / 1048576 | round | pad(10))  \(.result)"),
  ("geometric mean                      \(.geomean | rates) \(.peak_rss_bytes / 1048576 | round | pad(10))")
' "$results/bench"

for source in bench/*.cpp; do
  name=$(basename "$source" .cpp)
  say "bench: $name, $(sed -n '1s,^// *,,p' "$source")"
  "build/release/bench/$name"
done
if [ -n "$out" ]; then
  cp "$results/bench" "$out"
  say "written: $out"
fi
