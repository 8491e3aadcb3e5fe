#!/usr/bin/env bash
# Simulation speed: bench.sh [--json FILE]. Builds bench/speed.cpp and runs it: six workloads at `small` on v100, and the
# bars they must pass. The other programs of bench/ (exec_speed, timing_speed) look at single parts and are run by hand.
set -euo pipefail
caller=$PWD
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# shellcheck source=scripts/common.sh
source scripts/common.sh
# shellcheck source=scripts/setup.sh
source scripts/setup.sh

options=()
while [ $# -gt 0 ]; do
  case $1 in
    --json)
      [ $# -ge 2 ] || fail "--json needs a file name"
      out=$2
      [[ $out == /* ]] || out=$caller/$out
      [ -d "$(dirname "$out")" ] || fail "cannot write $out: there is no such folder"
      options+=(--json "$out")
      shift 2
      ;;
    *) fail "bench: unknown argument '$1' (only --json FILE)" ;;
  esac
done

need build
build_preset release benchmarks
say "bench: commit $(git describe --always --dirty 2>/dev/null || echo unknown)"
build/release/bench/speed "${options[@]}"
