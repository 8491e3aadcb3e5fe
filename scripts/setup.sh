# Installs the Debian 12 packages that are missing. Sourced.
# shellcheck shell=bash

# Group, what proves that the package is there (a command, or a file with /), package. "?" = nice to have: installed
# along with the others, never asked for.
setup_table() {
  cat <<'TABLE'
build  g++                              g++
build  cmake                            cmake
build  ninja                            ninja-build
build  ?ccache                          ccache
build  /usr/include/CLI/CLI.hpp         libcli11-dev
build  /usr/include/toml++/toml.h       libtomlplusplus-dev
build  /usr/include/fmt/format.h        libfmt-dev
build  /usr/include/nlohmann/json.hpp   nlohmann-json3-dev
build  /usr/include/xxhash.h            libxxhash-dev
build  /usr/include/zstd.h              libzstd-dev
build  /usr/include/lz4.h               liblz4-dev
build  /usr/include/lzma.h              liblzma-dev
build  /usr/include/sqlite3.h           libsqlite3-dev
build  /usr/include/gtest/gtest.h       libgtest-dev
build  /usr/include/gmock/gmock.h       libgmock-dev
page   node                             nodejs
page   npm                              npm
page   ?rsvg-convert                    librsvg2-bin
test   clang++-19                       clang-19
test   /usr/lib/llvm-19/lib/clang/19/lib/linux/libclang_rt.fuzzer-x86_64.a libclang-rt-19-dev
test   chromium                         chromium
test   xz                               xz-utils
bench  /usr/include/benchmark/benchmark.h libbenchmark-dev
python /usr/bin/python3-config                          python3-dev
python /usr/include/pybind11/pybind11.h                 pybind11-dev
python /usr/lib/python3/dist-packages/numpy/version.py  python3-numpy
pytest pkg-config                                      pkg-config
pytest /usr/lib/python3/dist-packages/pandas/__init__.py python3-pandas
pytest /usr/lib/python3/dist-packages/pytest/__init__.py python3-pytest
slurm  /usr/sbin/slurmctld                slurm-wlm
slurm  /usr/sbin/munged                   munge
test   ?valgrind                        valgrind
test   ?debootstrap                     debootstrap
pages  python3                          python3
docs   /usr/lib/python3/dist-packages/markdown python3-markdown
docs   doxygen                          doxygen
package dpkg-shlibdeps                  dpkg-dev
package file                            file
aarch64 aarch64-linux-gnu-g++             g++-aarch64-linux-gnu
aarch64 qemu-aarch64-static                 qemu-user-static
lint   clang-format                     clang-format
lint   ctags                            universal-ctags
lint   shellcheck                       shellcheck
TABLE
}

is_there() {
  case $1 in
    /*) [ -e "$1" ] ;;
    *) command -v "$1" >/dev/null ;;
  esac
}

# need GROUP...: every package of these groups is there afterwards, or the script ends with one clear line.
need() {
  local group proof package missing=() extra=()
  while read -r group proof package; do
    [[ " $* " == *" $group "* ]] || continue
    if [[ $proof == \?* ]]; then
      is_there "${proof#\?}" || extra+=("$package")
    elif ! is_there "$proof"; then
      missing+=("$package")
    fi
  done < <(setup_table)
  [ ${#missing[@]} -gt 0 ] || return 0
  command -v apt-get >/dev/null || fail "missing: ${missing[*]} (Debian names), and there is no apt-get to install them"
  [ "$(id -u)" = 0 ] || fail "missing packages; run: sudo apt-get install --no-install-recommends ${missing[*]}"
  say "setup: apt-get install ${missing[*]} ${extra[*]}"
  mkdir -p build
  # Debian's npm alone is 400 packages: without unsafe-io dpkg waits for the disk after each file.
  local options=(-y --no-install-recommends -o DPkg::Options::=--force-unsafe-io)
  export DEBIAN_FRONTEND=noninteractive
  if ! { apt-get update && apt-get install "${options[@]}" "${missing[@]}" "${extra[@]}"; } \
    </dev/null >build/setup.log 2>&1; then
    tail -20 build/setup.log >&2
    fail "apt-get failed (all of it: build/setup.log)"
  fi
}
