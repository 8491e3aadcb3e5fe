#!/usr/bin/env bash
# Every test, step by step; `scripts/test.sh STEP...` runs only those. Each step runs in a process of its own, so
# that one failing does not hide the others; the summary at the end names them all.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# shellcheck source=scripts/common.sh
source scripts/common.sh
# shellcheck source=scripts/setup.sh
source scripts/setup.sh

steps=(ctest style verify kernels report hashes asan fuzz tsan)
fuzz_seconds=${RADDLE_FUZZ_SECONDS:-60}

# The release build (asserts are on in it) and every gtest program of tests/; the benchmarks must build too.
step_ctest() {
  build_page
  build_preset release all benchmarks
  ctest --test-dir build/release -j "$(jobs)" --output-on-failure --no-tests=error |
    tee build/ctest.log
}

step_style() { scripts/lint.sh; }

# docs/verification.md is what the tests measure.
step_verify() { scripts/verify.sh --check; }

# The checked-in PTX is what clang-19 makes of the kernels' sources.
step_kernels() { workloads/regenerate.sh --check; }

# The report page: its own tests, then a report of this build in headless Chromium (no error, every chart drawn).
step_report() {
  [ -f web/dist/index.html ] || fail "the report page has not been built (build/page.log)"
  (cd web && npm test)
  build/release/raddle compare size=tiny bfs spmv kmeans --policies lrr,gto --gpu ccws --quiet --report build/check.html
  tests/web/check_report.sh build/check.html build/check_pictures
}

hash_of() { # hash_of PROGRAM OPTIONS...
  "$@" --quiet --json - | sed -n 's/^  "state_hash": "\([0-9a-f]*\)".*/\1/p'
}

# One state_hash from gcc and clang builds, twice, with --no-skip, and with two threads.
step_hashes() {
  local gcc=build/release/raddle clang=build/clang/raddle run reference other
  build_preset clang raddle
  for run in "sgemm size=tiny --gpu v100" "bfs size=tiny --gpu gtx480" "spmv size=tiny --gpu h200" \
    "histogram size=tiny --gpu v100"; do
    # shellcheck disable=SC2086  # words of one command line
    set -- $run
    reference=$(hash_of $gcc run "$@")
    [ -n "$reference" ] || fail "$run: no state_hash"
    for other in "$gcc run $*" "$gcc run $* --no-skip" "$gcc run $* --threads 2" "$clang run $*"; do
      # shellcheck disable=SC2086
      [ "$(hash_of $other)" = "$reference" ] || fail "state_hash differs from $reference: $other"
    done
    say "$run: $reference from gcc twice, --no-skip, --threads 2 and clang"
  done
}

# Everything that reads foreign input or moves memory by hand, under AddressSanitizer and UBSan.
step_asan() {
  local targets
  targets=$(test_programs '^test_(unit_|contract|worked|timing|config|cli)')
  # shellcheck disable=SC2086
  build_preset asan raddle $targets
  # shellcheck disable=SC2086
  run_programs asan $targets
}

# The threaded engine under ThreadSanitizer.
step_tsan() {
  build_preset tsan raddle
  local run
  for run in "bfs size=tiny" "sgemm size=tiny" "histogram size=tiny"; do
    # shellcheck disable=SC2086
    build/tsan/raddle run $run --gpu gtx480 --threads 2 --quiet
    say "$run: no race with two threads"
  done
}

# libFuzzer, a minute each: the PTX parser and decoder, from the workloads' kernels on; the reader of op-stream files,
# from recorded ones on.
step_fuzz() {
  build_preset fuzz fuzz_ptx fuzz_trace
  local seeds=build/fuzz/seeds workload
  mkdir -p $seeds/ptx $seeds/trace
  for workload in workloads/*/kernels.ptx; do
    cp "$workload" "$seeds/ptx/$(basename "$(dirname "$workload")").ptx"
  done
  for workload in vecadd reduction bfs; do
    build/release/raddle record $workload size=tiny --quiet -o build/fuzz/$workload.rdl
    build/fuzz/fuzz_trace --unpack build/fuzz/$workload.rdl $seeds/trace/$workload
  done
  fuzz ptx -dict=tests/fuzz/ptx.dict
  fuzz trace
}
fuzz() { # fuzz TARGET OPTIONS...
  local target=$1
  shift
  "build/fuzz/fuzz_$target" "$@" -max_total_time="$fuzz_seconds" -timeout=10 -rss_limit_mb=4096 -print_final_stats=1 \
    -verbosity=0 -artifact_prefix=build/fuzz/ "build/fuzz/seeds/$target"
}

# Names of the release build's test programs that match a pattern.
test_programs() {
  find build/release/tests -maxdepth 1 -type f -executable -printf '%f\n' | grep -E "$1" | sort
}

run_programs() { # run_programs PRESET PROGRAM...
  local preset=$1 program
  shift
  for program in "$@"; do
    say "$preset: $program"
    "build/$preset/tests/$program" --gtest_brief=1
  done
}

if [ "${1:-}" = --step ]; then
  "step_$2"
  exit
fi

[ $# -gt 0 ] && steps=("$@")
for step in "${steps[@]}"; do
  [ "$(type -t "step_$step")" = function ] || fail "there is no test step '$step'"
done
need build page test lint
summary=() failed=()
for step in "${steps[@]}"; do
  say "test step: $step"
  start=$SECONDS
  verdict=ok
  scripts/test.sh --step "$step" || { verdict=FAILED && failed+=("$step"); }
  summary+=("$(printf '%-8s %5d s  %s' "$step" $((SECONDS - start)) "$verdict")")
  # Without a build nothing else can be tested.
  [ "$step" = ctest ] && [ ! -x build/release/raddle ] && break
done
say "summary (${SECONDS} s)"
printf '   %s\n' "${summary[@]}"
if [ -f build/ctest.log ]; then grep 'tests passed' build/ctest.log || true; fi
[ ${#failed[@]} -eq 0 ] || {
  printf 'x test: failed: %s\n' "${failed[*]}" >&2
  exit 1
}
