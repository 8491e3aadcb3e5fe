#!/usr/bin/env bash
# What scripts/package_test.sh runs in the bare Debian: `tour run` needs the package alone, `tour compile` a compiler,
# `tour python` NumPy.
set -euo pipefail
step() { printf -- '-- %s\n' "$*"; }
has() { # has FILE TEXT
  grep -q -- "$2" "$1" || { echo "tour: '$2' is not in $1" >&2 && tail -20 "$1" >&2 && exit 1; }
}

run() {
  step "version, doctor, manual, completions"
  raddle --version >version.txt
  has version.txt compiler
  raddle doctor >doctor.txt
  has doctor.txt /usr/lib/raddle/libcudart.so.13
  for library in libcudart.so.12 libcublas.so.12 libcublasLt.so.13 libcufft.so.11 libcurand.so.10 libcusparse.so.12; do
    test -s "/usr/lib/raddle/$library"
  done
  has doctor.txt "apt-get install g++"
  test -s /usr/share/man/man1/raddle.1.gz || test -s /usr/share/man/man1/raddle.1
  bash -n /usr/share/bash-completion/completions/raddle
  step "a workload, its report"
  raddle run vecadd size=tiny --gpu v100 --report run.html >run.txt
  has run.txt correct
  has run.html "vecadd"
  step "a CUDA program, recorded and compared"
  raddle exec --gpu v100 --json exec.json -- app >exec.txt
  has exec.json '"cycles"'
  raddle compare --policies lrr,gto --quiet --report compare.html -- app
  raddle record -o app.rdl --quiet -- app
  raddle replay app.rdl --gpu h200 >replay.txt
  step "machines: all of one, a difference, one's own"
  raddle list gpus v100 >v100.txt
  has v100.txt sm.l1d.size_kib
  raddle diff gpus h100 h200 >diff.txt
  has diff.txt l2.slices
  printf 'extends = "v100"\nname = "mine"\nsource = "a test"\n[sm.l1d]\nsize_kib = 64\n' >mine.toml
  raddle run vecadd size=tiny --gpu mine.toml --json mine.json --quiet
  has mine.json '"name": "mine"'
  step "a sweep, its pages, an experiment of the package"
  raddle sweep /usr/share/raddle/examples/warp_schedulers.toml --results results --json d.json --report r.html --quiet
  raddle report d.json -o pages --quiet
  test -s pages/index.html
  raddle reproduce demo --results results --quiet
  step "the pages' commands"
  pages /usr/share/raddle /usr/share/doc/raddle/docs/{install,first-study,own-machine,results,papers,trust}.md
}

compile() {
  local examples=/usr/share/raddle/examples
  step "a plug-in by raddle plugin"
  raddle plugin $examples/own_policy.cpp -o youngest.so
  raddle run bfs size=tiny --gpu gtx480 --plugin youngest.so --policy warp=youngest >youngest.txt
  has youngest.txt correct
  step "the same by CMake"
  mkdir -p own && cp $examples/own_policy.cpp own/
  cat >own/CMakeLists.txt <<'TEXT'
cmake_minimum_required(VERSION 3.22)
project(own LANGUAGES CXX)
find_package(raddle 0.1 REQUIRED)
raddle_add_plugin(own own_policy.cpp)
TEXT
  cmake -S own -B own/build >cmake.txt
  cmake --build own/build >>cmake.txt
  raddle list policies --plugin own/build/own.so >policies.txt
  has policies.txt youngest
  step "the headers by pkg-config"
  # shellcheck disable=SC2046  # words of a command line
  g++ $(pkg-config --cflags raddle) -fsyntax-only $examples/own_policy.cpp
  step "pages that need Python"
  pages /usr/share/raddle /usr/share/doc/raddle/docs/sweeps.md
  step "completions"
  bash -c 'source /usr/share/bash-completion/completions/raddle
    COMP_WORDS=(raddle run bfs --gpu h2) COMP_CWORD=4; _raddle; [ "${COMPREPLY[*]}" = h200 ]'
}

python() {
  step "a study in Python: a policy written there, its page and figure"
  python3 /usr/share/raddle/examples/own_policy.py size=tiny >study.txt
  has study.txt few_blocks
  has own_policy.svg "<svg"
  test -s own_policy.html
}

"$1"
echo "tour $1: all well"
