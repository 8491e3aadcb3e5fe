#!/usr/bin/env bash
# Simulation speed: bench.sh [--gpu NAME] [--json FILE] builds bench/speed.cpp and runs it: six workloads at `small`, and on
# v100, the default, the bars they must pass. bench.sh exec|timing|analysis [OPTION...] looks at one part, with the options
# of Google Benchmark (--benchmark_filter=REGEX, --benchmark_repetitions=N, ...).
set -euo pipefail
caller=$PWD
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# shellcheck source=scripts/common.sh
source scripts/common.sh
# shellcheck source=scripts/setup.sh
source scripts/setup.sh

case ${1:-} in
  exec | timing | analysis)
    program=$1_speed
    shift
    need build bench
    build_preset release "bench_$program"
    exec "build/release/bench/$program" "$@"
    ;;
esac

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
    --gpu)
      [ $# -ge 2 ] || fail "--gpu needs the name of a GPU"
      options+=(--gpu "$2")
      shift 2
      ;;
    *) fail "bench: unknown argument '$1' (--gpu NAME, --json FILE; or exec, timing, analysis)" ;;
  esac
done

need build
build_preset release bench_speed
say "bench: commit $(git describe --always --dirty 2>/dev/null || echo unknown)"
build/release/bench/speed "${options[@]}"
