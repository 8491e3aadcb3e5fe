# Shared by ./x and scripts/*.sh: messages and builds. Sourced with the repository as working directory.
# shellcheck shell=bash

say() { printf '== %s\n' "$*"; }
fail() {
  printf 'x: %s\n' "$*" >&2
  exit 2
}

# What one clone has compiled, every other clone of this machine has, too. What it depends on is known from the compilation
# itself, not from a preprocessor's run before it.
export CCACHE_BASEDIR=${CCACHE_BASEDIR:-$PWD} CCACHE_NOHASHDIR=${CCACHE_NOHASHDIR:-1} CCACHE_DEPEND=${CCACHE_DEPEND:-1}
export CCACHE_SLOPPINESS=${CCACHE_SLOPPINESS:-pch_defines,time_macros}  # without it, nothing with precompiled headers is kept

jobs() { nproc 2>/dev/null || echo 2; }

# Builds of the lane engine (cmake/exec_lanes.cmake). Who only runs the program sets host, which compiles fewer; a build that
# has all keeps them.
lanes=all

# build_preset PRESET [TARGET...]: configures once, then builds (everything, or the targets).
build_preset() {
  local preset=$1
  shift
  if [ ! -f "build/$preset/build.ninja" ] ||
    { [ $lanes = all ] && grep -qs '^RADDLE_LANES:STRING=host$' "build/$preset/CMakeCache.txt"; }; then
    say "configure: build/$preset"
    mkdir -p "build/$preset"
    if ! cmake --preset "$preset" -DRADDLE_UNITY=ON "-DRADDLE_LANES=$lanes" >"build/$preset/configure.log" 2>&1; then
      tail -20 "build/$preset/configure.log" >&2
      rm -f "build/$preset/build.ninja"
      fail "cmake --preset $preset failed (all of it: build/$preset/configure.log)"
    fi
  fi
  local targets=$*
  [ $# -le 12 ] || targets="$# targets"
  say "build: build/$preset${targets:+ ($targets)}"
  # On a terminal ninja keeps to one line by itself.
  local quiet=()
  [ -t 1 ] || quiet=(--quiet)
  ninja "${quiet[@]}" -C "build/$preset" -j "$(jobs)" "$@"
}

# build_python: the module for $PYTHON, else Debian's, in build/release/python. The build of the program stays as it is.
build_python() {
  local python=${PYTHON:-/usr/bin/python3}
  if ! grep -qs "^RADDLE_PYTHON:BOOL=ON" build/release/CMakeCache.txt ||
    ! grep -qs "^Python_EXECUTABLE:[A-Z]*=$python\$" build/release/CMakeCache.txt; then
    say "configure: build/release, with the Python module for $python"
    mkdir -p build
    cmake --preset release -DRADDLE_PYTHON=ON -DPython_EXECUTABLE="$python" >build/python.log 2>&1 || {
      tail -20 build/python.log >&2
      fail "cmake --preset release -DRADDLE_PYTHON=ON failed (all of it: build/python.log)"
    }
  fi
  build_preset release raddle_python
}

# build_page: the pages web/dist/*.html, which the program embeds. Without npm or network the program is built with
# plain notices in place of the pages; ./x test insists on them.
build_page() {
  local page=web/dist/index.html  # the first that is built
  [ -f web/package.json ] || return 0
  if [ -f "$page" ] && [ -f web/dist/reproduction.html ] && [ -f web/dist/papers.html ] &&
    [ -z "$(find web -type f -newer "$page" ! -path '*/node_modules/*' ! -path 'web/dist/*' \
      ! -name fallback.html -print -quit)" ]; then
    return 0
  fi
  say "page: npm ci and npm run build in web/"
  mkdir -p build
  # Node trusts its own list of authorities only; the machine's may hold more (a proxy's, a company's).
  local authorities=/etc/ssl/certs/ca-certificates.crt
  [ -f $authorities ] && export NODE_EXTRA_CA_CERTS=${NODE_EXTRA_CA_CERTS:-$authorities}
  if ! (cd web && npm ci --no-audit --no-fund && npm run build) >build/page.log 2>&1; then
    tail -5 build/page.log >&2
    say "page: could not be built (build/page.log); reports will hold a plain notice instead"
  fi
}

hash_of() { # hash_of PROGRAM OPTIONS...
  "$@" --quiet --json - | sed -n 's/^  "state_hash": "\([0-9a-f]*\)".*/\1/p'
}
