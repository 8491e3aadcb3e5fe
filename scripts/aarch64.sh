#!/usr/bin/env bash
# The program for 64-bit ARM, compiled here by Debian's cross compiler and run by qemu: unit tests of what computes
# values, and state hashes against those of the release build. Whoever has an ARM machine needs none of this: there
# ./x build does it. Of ARM's packages only headers and libraries are taken, into build/aarch64_root.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# shellcheck source=scripts/common.sh
source scripts/common.sh

root=$PWD/build/aarch64_root
emulator=(qemu-aarch64-static -L "$root")

# apt with lists, cache and a state of its own: nothing of this machine changes, and it need not be root.
fetch_root() {
  [ ! -e "$root/complete" ] || return 0
  say "packages of arm64: $root"
  rm -rf "$root" && mkdir -p "$root"/apt/{lists,cache/archives}/partial
  : >"$root/apt/status"
  local apt=(apt-get -qq -o APT::Architecture=arm64 -o APT::Architectures::=arm64 -o Debug::NoLocking=1
    -o APT::Sandbox::User= -o "Dir::State::lists=$root/apt/lists" -o "Dir::Cache=$root/apt/cache"
    -o "Dir::State::status=$root/apt/status")
  local wanted=(libc6-dev libstdc++-12-dev libfmt-dev libxxhash-dev libzstd-dev liblz4-dev liblzma-dev libsqlite3-dev
    libgtest-dev libgmock-dev nlohmann-json3-dev libtomlplusplus-dev libcli11-dev)
  if ! { "${apt[@]}" update && "${apt[@]}" -y --no-install-recommends --download-only install "${wanted[@]}"; } \
    >build/aarch64_root.log 2>&1; then
    fail "the packages of arm64 could not be fetched (build/aarch64_root.log)"
  fi
  local package
  for package in "$root"/apt/cache/archives/*.deb; do dpkg-deb -x "$package" "$root"; done
  touch "$root/complete"
}

configure() {
  [ ! -f build/aarch64/build.ninja ] || return 0
  cat >build/aarch64_root/toolchain.cmake <<TOOLCHAIN
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_SYSROOT $root)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(CMAKE_CROSSCOMPILING_EMULATOR ${emulator[0]};${emulator[1]};${emulator[2]})
TOOLCHAIN
  cmake --preset release -B build/aarch64 -DRADDLE_UNITY=ON \
    -DCMAKE_TOOLCHAIN_FILE="$root/toolchain.cmake" >build/aarch64.log 2>&1 ||
    fail "cmake failed for aarch64 (build/aarch64.log)"
}

fetch_root
configure
tests=(test_unit_base test_unit_ptx test_unit_exec)
say "build: build/aarch64 (raddle ${tests[*]})"
ninja --quiet -C build/aarch64 -j "$(jobs)" raddle "${tests[@]}"
# Limits of address space count the emulator's own. In parts, since it keeps its tables of every 16 GiB that a test reserves.
parts=8
for program in "${tests[@]}"; do
  for ((part = 0; part < parts; part++)); do
    GTEST_TOTAL_SHARDS=$parts GTEST_SHARD_INDEX=$part "${emulator[@]}" "build/aarch64/tests/$program" --gtest_brief=1 \
      --gtest_filter=-DeviceMemory.OnlyWhatIsAllocated*:DeviceMemory.TakesWhatTheSystemGives*
  done
done
for run in "vecadd size=tiny --gpu v100" "sgemm size=tiny --gpu gtx480" "bfs size=tiny --gpu gtx480" \
  "histogram size=tiny --gpu v100" "kmeans size=tiny --gpu v100" "srad size=tiny --gpu latoa" "scan size=tiny --gpu h200"; do
  # shellcheck disable=SC2086  # words of one command line
  set -- $run
  here=$(hash_of build/release/raddle run "$@")
  there=$(hash_of "${emulator[@]}" build/aarch64/raddle run "$@")
  [ -n "$here" ] || fail "$run: no state_hash"
  [ "$here" = "$there" ] || fail "$run: state_hash $here here, $there on aarch64"
  say "$run: $here on both"
done
