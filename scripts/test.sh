#!/usr/bin/env bash
# The tests, step by step: without arguments those of the release build, `all` of them, or the steps named. Each step
# runs in a process of its own, so that one failing does not hide the others; the summary at the end names them all.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# shellcheck source=scripts/common.sh
source scripts/common.sh
# shellcheck source=scripts/setup.sh
source scripts/setup.sh

steps=(ctest report python style verify kernels counts slurm pages)
# More builds: by another compiler, with sanitizers, for another host, as a package.
more_steps=(hashes asan fuzz tsan docs package aarch64)
light_steps=" style verify kernels counts slurm pages "  # they mostly use one core: several run at once
pages=(docs/install.md docs/first-study.md docs/own-program.md docs/own-machine.md docs/sweeps.md docs/results.md
  docs/papers.md docs/trust.md)
# The gate must not fail by chance: its fuzzers take so many steps from the same seed. By hand, RADDLE_FUZZ_SECONDS=600
# sends each somewhere new for so long.
fuzz_seconds=${RADDLE_FUZZ_SECONDS:-}

# The release build (asserts are on in it) and every gtest program of tests/, without those that step asan or verify runs
# where that is among the steps; the benchmarks must build too.
step_ctest() {
  build_page
  build_preset release build.ninja
  local targets folder programs='^$' tests='^$'
  for folder in $(tests_of_other_steps); do
    programs+="|^tests/test_${folder/\//_}\$"
    tests+="|^$folder/|^test_${folder/\//_}_NOT_BUILT\$"
  done
  mapfile -t targets < <(ninja -C build/release -t query all | sed -n '/outputs:/q; s/^    //p' | grep -vE "$programs")
  build_preset release "${targets[@]}" benchmarks
  check_lto
  ctest --test-dir build/release -j "$(jobs)" --output-on-failure --no-tests=error -E "$tests" |
    tee build/ctest.log
}
tests_of_other_steps() {
  case ${RADDLE_STEPS:-} in *" asan "*) printf 'unit/%s\n' "${asan_rooms[@]}" ;; esac
  case ${RADDLE_STEPS:-} in *" verify "*) echo analytic ;; esac
}

# Link-time optimisation has been lost once without a word (cmake/hot_rooms.cmake); spmv takes 15 % longer without.
check_lto() {
  grep -q 'CMAKE_CXX_COMPILER_ID "GNU"' build/release/CMakeFiles/*/CMakeCXXCompiler.cmake || return 0
  ! nm -C build/release/raddle | grep -q 'T raddle::timing::Crossbar::tick(' ||
    fail "build/release/raddle was linked without link-time optimisation"
}

step_style() { scripts/lint.sh; }

# docs/verification.md is what the tests measure.
step_verify() { scripts/verify.sh --check; }

# The checked-in PTX is what clang-19 makes of the kernels' sources; the registers of its kernels are what ptxas 13.0
# says, where it and Python are at hand.
step_kernels() {
  workloads/regenerate.sh --check
  src/raddle/cuda_library/regenerate.sh --check
  ! command -v python3 >/dev/null || scripts/measure_lowering.py registers --check
}

# No week that makes it slower.
step_counts() {
  build_preset release program
  scripts/counts.sh
}

# A program whose kernels launch kernels: the launch tree and its waits.
check_nested() {
  build/release/raddle run tests/data/device_launch/device_launch.ptx kernel=_Z4manyPi grid=8 block=64 args=buf:2048 \
    --gpu gtx480 --quiet --report build/check_nested.html
  tests/web/check.sh report build/check_nested.html build/check_nested_pictures
}

# Machines with a mesh: its map, with states and warps that move, and without.
check_mesh() {
  build/release/raddle compare size=tiny bfs --gpu latoa --policies migrate=none,migrate=latoa,migrate=random --quiet --report build/check_latoa.html
  tests/web/check.sh report build/check_latoa.html build/check_latoa_pictures
  build/release/raddle run scan size=tiny --gpu ikra --quiet --report build/check_ikra.html
  tests/web/check.sh report build/check_ikra.html build/check_ikra_pictures
}

# The pages: their own tests, then in headless Chromium (no error, every chart drawn) a report of this build, and pages
# of papers with invented numbers: plain, hostile, incomplete, with long names, with nothing and with much in them.
step_report() {
  build_page
  build_preset release program
  [ -f web/dist/papers.html ] || fail "the pages of reports have not been built (build/page.log)"
  (cd web && npm test)
  build/release/raddle compare size=tiny bfs spmv kmeans --policies lrr,gto --gpu ccws --quiet --report build/check.html
  tests/web/check.sh report build/check.html build/check_pictures
  check_nested
  check_mesh
  local status=0
  (check_papers plain paper=plain && check_papers hostile paper=hostile hostile=1 nulls=1 &&
    check_papers bare paper=bare bare=1) &
  check_papers long paper=long long=1 && check_papers empty paper=empty experiments=0 &&
    check_papers many paper=many experiments=30 || status=1
  wait $! || status=1
  [ $status = 0 ] || return 1
  build/release/raddle report build/papers/*.json -o build/papers/all --quiet
  tests/web/check.sh papers build/papers/all/index.html build/papers/pictures
}
check_papers() { # check_papers NAME SETTING... (of tests/web/invented_reproduction.mjs)
  local name=$1
  shift
  mkdir -p build/papers
  node tests/web/invented_reproduction.mjs "$@" >"build/papers/$name.json" &&
    build/release/raddle report "build/papers/$name.json" -o "build/papers/$name" --quiet &&
    tests/web/check.sh reproduction "build/papers/$name/$name.html" "build/papers/pictures/$name"
}

# The library, installed and used by a program of its own.
check_library() {
  build_preset release raddle_library
  rm -rf build/library
  cmake --install build/release --component library --prefix build/library >build/library.log
  # shellcheck disable=SC2046  # words of a command line
  g++ -std=c++20 examples/library.cpp -o build/library/study \
    $(PKG_CONFIG_PATH=build/library/lib/pkgconfig pkg-config --cflags --libs raddle-library)
  build/library/study bfs size=tiny
  ! build/library/study bsf 2>build/library/told || fail "library: a workload that there is not was run"
  grep -q "^no workload is called 'bsf'" build/library/told || fail "library: $(cat build/library/told)"
}

# The library; then the Python module: runs, launches, policies, the lines of docs/python.md; and its wheel alone.
step_python() {
  need python pytest
  build_page
  build_preset release program
  check_library
  build_python
  local python=${PYTHON:-/usr/bin/python3}
  PYTHONPATH=$PWD/build/release/python "$python" -m pytest -q -p no:cacheprovider tests/python
  check_wheel
}

# The wheel, unpacked where nothing else of Raddle is: its own module, program and machines.
check_wheel() {
  local python=${PYTHON:-/usr/bin/python3} into=$PWD/build/python_installed
  rm -rf "$into" && mkdir -p "$into"
  if "$python" -m pip --version >/dev/null 2>&1; then
    "$python" -m pip install --quiet --no-deps --no-index --target "$into" .
    PYTHONPATH=$into "$into/bin/raddle" --version  # pip --target is on no path
  else
    PYTHONPATH=python "$python" -c "import raddle_wheel; raddle_wheel.build_wheel('$into')"
    "$python" -m zipfile -e "$into"/raddle-*.whl "$into"
    chmod +x "$into/raddle/bin/raddle"  # which pip does
  fi
  (cd / && PYTHONPATH=$into PATH=/usr/bin:/bin "$python" -c \
    "import raddle; from raddle._program import program
assert program().startswith('$into') and raddle.__file__.startswith('$into')
assert raddle.run('vecadd', size='tiny').correct")
}

# One state_hash from gcc and clang builds, twice, with --no-skip, and with two threads.
step_hashes() {
  local gcc=build/release/raddle clang=build/tsan/raddle run reference other
  build_preset release program
  build_preset tsan raddle
  for run in "sgemm size=tiny --gpu v100" "bfs size=tiny --gpu gtx480" "spmv size=tiny --gpu h200" \
    "histogram size=tiny --gpu v100" "bfs size=tiny --gpu ikra" \
    "srad size=tiny --gpu latoa --policy migrate=random:interval=50" \
    "srad size=tiny --gpu latoa --policy migrate=latoa:entry=1,relaxed=0,critical=1,converged=false,slots_percent=100"; do
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

# Sweeps through real Slurms of this machine alone, two at a time as they mostly wait; and through one whose node does
# not see a folder.
step_slurm() {
  local run=tests/slurm/with_cluster.sh program=build/release/tests/test_slurm hidden shard pid status=0 pids=()
  $run true || {
    status=$?
    [ $status != 77 ] || say "slurm: skipped"
    return $((status == 77 ? 0 : status))
  }
  for shard in 0 1; do
    GTEST_TOTAL_SHARDS=2 GTEST_SHARD_INDEX=$shard $run $program --gtest_brief=1 --gtest_filter=-HiddenFolder.* &
    pids+=($!)
  done
  if unshare --mount true 2>/dev/null; then
    hidden=$(mktemp -d)
    RADDLE_CLUSTER_HIDE=$hidden $run $program --gtest_brief=1 --gtest_filter=HiddenFolder.* || status=1
    rm -rf "$hidden"
  else
    say "slurm: skipped the tests of folders that nodes do not see: they need root"
  fi
  for pid in "${pids[@]}"; do wait "$pid" || status=1; done
  return $status
}

# The rooms that read foreign input or move memory by hand, under AddressSanitizer and UBSan (experiment files: step fuzz).
# In the fuzzers' build, which has both, so that everything is compiled once less.
asan_rooms=(base trace ptx exec fatbin accelsim config runtime timing analysis)
step_asan() {
  local targets
  targets=$(printf 'test_unit_%s ' "${asan_rooms[@]}")
  # shellcheck disable=SC2086
  build_preset fuzz $targets
  # shellcheck disable=SC2086
  run_programs fuzz $targets
}

# Another host: 64-bit ARM, compiled and run here.
step_aarch64() {
  need aarch64
  build_preset release program
  scripts/aarch64.sh
}

# The threaded engine under ThreadSanitizer, in the build by clang that step hashes has, too.
step_tsan() {
  build_preset tsan raddle
  local run
  for run in "bfs size=tiny --gpu gtx480" "sgemm size=tiny --gpu gtx480" "histogram size=tiny --gpu gtx480" \
    "srad size=tiny --gpu latoa --policy migrate=random:interval=50"; do
    # shellcheck disable=SC2086
    build/tsan/raddle run $run --threads 2 --quiet
    say "$run: no race with two threads"
  done
}

# libFuzzer, some 20 s each: the PTX parser and decoder, from the workloads' kernels on; the reader of op-stream files,
# from recorded ones on; the reader of experiment files, from those of experiments/ on; the readers of fat binaries, of
# modules to be linked and of Accel-Sim traces, from those of tests/data on; recordings section by section, timed as
# well; JSON documents value by value, from invented ones on; results databases, value by value as well.
step_fuzz() {
  build_preset fuzz fuzz_ptx fuzz_trace fuzz_experiment fuzz_fatbin fuzz_link fuzz_accelsim fuzz_recording \
    fuzz_document fuzz_database
  local seeds=build/fuzz/seeds workload file
  rm -rf $seeds  # finds of earlier runs
  mkdir -p $seeds/ptx $seeds/trace $seeds/experiment $seeds/fatbin $seeds/link $seeds/accelsim $seeds/recording \
    $seeds/document $seeds/database
  cp tests/data/fatbin/*.fatbin $seeds/fatbin
  cp tests/data/accelsim/*.traceg $seeds/accelsim/
  xz -c tests/data/accelsim/mixed.traceg >$seeds/accelsim/mixed.xz
  for file in experiments/*/*.toml; do
    [ "${file##*/}" = paper.toml ] ||
      { cat "${file%/*}/paper.toml" && echo "#### file ####" && cat "$file"; } \
        >"$seeds/experiment/$(echo "$file" | tr / _)"
  done
  for workload in workloads/*/kernels.ptx; do
    cp "$workload" "$seeds/ptx/$(basename "$(dirname "$workload")").ptx"
  done
  for file in tests/data/link/*_a.ptx; do
    { cat "$file" && echo "####" && cat "${file%_a.ptx}_b.ptx"; } >"$seeds/link/$(basename "$file")"
  done
  for workload in vecadd reduction bfs; do
    build/release/raddle record $workload size=tiny --quiet -o build/fuzz/$workload.rdl
    build/fuzz/fuzz_trace --unpack build/fuzz/$workload.rdl $seeds/trace/$workload
  done
  build/fuzz/fuzz_recording --seed $seeds/recording/small
  build/fuzz/fuzz_database --seed $seeds/database/small
  node tests/web/invented_reproduction.mjs paper=plain experiments=2 >$seeds/document/reproduction
  build/release/raddle list gpus --json >$seeds/document/list
  # Two at a time.
  together "fuzz ptx 60000 -dict=tests/fuzz/ptx.dict" "fuzz trace 10000"
  together "fuzz fatbin 500000" "fuzz link 150000 -dict=tests/fuzz/ptx.dict"
  together "fuzz experiment 8000 -dict=tests/fuzz/experiment.dict -max_len=16384" \
    "fuzz accelsim 60000 -dict=tests/fuzz/accelsim.dict -max_len=16384"
  together "fuzz recording 8000 -max_len=65536" "fuzz document 20000 -max_len=65536"
  fuzz database 3000 -max_len=262144
}
fuzz() { # fuzz TARGET STEPS OPTIONS...
  local target=$1 walk=(-seed=1 "-runs=$2" -reload=0 -max_total_time=200)
  [ -z "$fuzz_seconds" ] || walk=("-max_total_time=$fuzz_seconds")
  shift 2
  # Two runs are one only if nothing is read back by the clock and addresses, which libFuzzer hashes, are not random
  # (some containers forbid to ask for that).
  local fixed=(setarch "$(uname -m)" -R)
  "${fixed[@]}" true 2>/dev/null || fixed=()
  "${fixed[@]}" "build/fuzz/fuzz_$target" "$@" "${walk[@]}" -timeout=30 -rss_limit_mb=4096 \
    -print_final_stats=1 -verbosity=0 -artifact_prefix=build/fuzz/ "build/fuzz/seeds/$target" ||
    fail "fuzz: $target, see above"
}
together() { # together COMMAND...: all at once; fails when one of them does
  local command pid pids=() status=0
  for command in "$@"; do
    # shellcheck disable=SC2086  # words of one command line
    $command &
    pids+=($!)
  done
  for pid in "${pids[@]}"; do wait "$pid" || status=1; done
  return $status
}

# Commands in the pages for users, as they stand there.
step_pages() {
  need pages
  build_page
  build_preset release program
  PATH=$PWD/build/release:$PATH scripts/pages.sh . "${pages[@]}"
}

# The site: every link leads somewhere, and its pages in headless Chromium.
step_docs() {
  scripts/docs.sh
  tests/web/check.sh site build/site/index.html build/site_pictures
}

# The package in a bare Debian, where that can be made.
step_package() {
  local status=0
  scripts/package_test.sh || status=$?
  return $((status == 77 ? 0 : status))
}

run_programs() { # run_programs PRESET PROGRAM...: all of them, several at once, also after one has failed
  local preset=$1
  shift
  printf '%s\n' "$@" | several_at_once program "build/$preset/tests/{}"
}
program() { # what it says stays together
  local status=0 log=build/${1##*/}.log
  "$1" --gtest_brief=1 >"$log" 2>&1 || status=1
  say "$1"
  cat "$log"
  return $status
}
several_at_once() { # several_at_once FUNCTION ARGUMENT: for each line, which is {} in the argument
  xargs -P "$(jobs)" -I '{}' scripts/test.sh --call "$1" "$2"
}

# timed STEP: what it says is also in build/, and there is its line of the summary.
timed() {
  local start=$SECONDS verdict=ok
  scripts/test.sh --call "step_$1" 2>&1 | tee "build/step_$1.log" || verdict=FAILED
  printf '%-8s %5d s  %s\n' "$1" $((SECONDS - start)) $verdict >"build/step_$1.verdict"
}

# What failed, once more: the log of a whole run is long, and some readers see only its end.
what_failed() {
  say "$1: what went wrong (build/step_$1.log)"
  # sed reads to the end, where head would break the pipe.
  { grep -nE -A 12 '\[  FAILED  \]|: Failure$|error:|ERROR: |runtime error|^FAILED|\*\*\*Failed|x test: ' "build/step_$1.log" || true; } |
    cut -c 1-400 | sed -n 1,60p
  tail -n 5 "build/step_$1.log" | cut -c 1-400
}

if [ "${1:-}" = --call ]; then
  shift
  "$@"
  exit
fi

[ "$*" != all ] || set -- "${steps[@]}" "${more_steps[@]}"
[ $# -eq 0 ] || steps=("$@")
for step in "${steps[@]}"; do
  [ "$(type -t "step_$step")" = function ] || fail "there is no test step '$step'"
done
need build page test slurm lint
mkdir -p build
export RADDLE_STEPS=" ${steps[*]} "
for ((at = 0; at < ${#steps[@]}; at++)); do
  group=("${steps[at]}")
  while [[ $light_steps == *" ${steps[at]} "* && $light_steps == *" ${steps[at + 1]:-none} "* ]]; do
    group+=("${steps[++at]}")
  done
  say "test step: ${group[*]}"
  if [ ${#group[@]} = 1 ]; then
    timed "${group[0]}"
  else
    printf '%s\n' "${group[@]}" | several_at_once timed '{}' >/dev/null
    for step in "${group[@]}"; do cat "build/step_$step.log"; done
  fi
  # Without a build nothing else can be tested.
  [ -x build/release/raddle ] || [ "${steps[at]}" != ctest ] || break
done
say "summary (${SECONDS} s)"
failed=()
for step in "${steps[@]:0:at+1}"; do
  printf '   %s\n' "$(cat "build/step_$step.verdict")"
  ! grep -q FAILED "build/step_$step.verdict" || failed+=("$step")
done
[[ " ${steps[*]} " != *" ctest "* ]] || grep 'tests passed' build/ctest.log || true
[ ${#failed[@]} -eq 0 ] || {
  for step in "${failed[@]}"; do what_failed "$step"; done
  printf 'x test: failed: %s\n' "${failed[*]}" >&2
  exit 1
}
