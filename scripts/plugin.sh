#!/usr/bin/env bash
# A shared object from policies' files: plugin.sh FILE.cpp... -o FILE.so. The files are as in src/raddle/policy/<level>/
# (docs/adding-a-policy.md). It runs in the sources, where the program is built first if it is not there, as both must
# have the same headers, and installed (lib/raddle), where headers and libraries lie beside the program.
# `--entry FILE.cpp` writes the file that names the policies instead, for builds of others (raddle_add_plugin of CMake).
set -euo pipefail
here=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
fail() {
  printf 'raddle plugin: %s\n' "$*" >&2
  exit 2
}

sources=() out='' entry_only=''
while [ $# -gt 0 ]; do
  case $1 in
    -o | --entry)
      [ $# -ge 2 ] || fail "$1 needs a file name"
      [ "$1" = -o ] || entry_only=yes
      out=$2
      shift
      ;;
    -*) fail "unknown option '$1' (only -o FILE.so)" ;;
    *) sources+=("$1") ;;
  esac
  shift
done
if [ ${#sources[@]} -eq 0 ] || [ -z "$out" ]; then
  fail "expected FILE.cpp... -o FILE.so"
fi

# prepare: sets includes and libraries, and builds the program where that has not been done.
prepare() {
  local root=$here/..
  if [ ! -f "$root/CMakeLists.txt" ]; then # installed
    root=$(cd "$here/../.." && pwd)
    includes=(-I "$root/include") libraries=$here
    return 0
  fi
  root=$(cd "$root" && pwd)
  # shellcheck disable=SC1091
  (cd "$root" && source scripts/common.sh && source scripts/setup.sh && need build &&
    if [ ! -x build/release/raddle ] || [ ! -f build/release/generated/raddle/policy/interface_hash.h ]; then
      build_page && lanes=host && build_preset release program
    fi)
  includes=(-I "$root/src" -I "$root/build/release/generated") libraries=$root/build/release
}

# write_entry FILE: what the program calls to have the policies.
write_entry() {
  local source found level name type declarations='' calls=''
  for source in "${sources[@]}"; do
    [ -f "$source" ] || fail "there is no file $source"
    found=
    # void add_warp_mine(Registry<WarpPolicy>& r): level and name are in the function's name.
    while read -r level name type; do
      found=yes
      declarations+="void add_${level}_$name(Registry<$type>&);"$'\n'
      calls+="  add_${level}_$name(all.$level);"$'\n'
    done < <(sed -nE 's/^ *void add_([a-z0-9]+)_([a-z0-9_]+)\( *Registry<([A-Za-z]+)> *&.*/\1 \2 \3/p' "$source")
    [ -n "$found" ] || fail "$source has no line 'void add_<level>_<name>(Registry<...>& r)'"
  done
  cat >"$1" <<TEXT
#include "raddle/policy/plugin.h"
namespace raddle::policy {
${declarations}namespace {
void add_policies(Registries& all) {
$calls}
}  // namespace
}  // namespace raddle::policy
RADDLE_PLUGIN(raddle::policy::add_policies)
TEXT
}

if [ -n "$entry_only" ]; then
  write_entry "$out"
  exit
fi
prepare
compiler=${CXX:-g++}
command -v "$compiler" >/dev/null || fail "there is no compiler '$compiler' (Debian: apt-get install g++)"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
write_entry "$work/entry.cpp"
flags=(-std=c++20 -O2 -fPIC -shared -fvisibility=hidden -fvisibility-inlines-hidden -fno-lto "${includes[@]}")
[ "$(uname -m)" = x86_64 ] && flags+=(-march=x86-64-v3 -ffp-contract=off)
# What policies call of rooms policy and base; nothing of the model. What these call of libraries the program has.
"$compiler" "${flags[@]}" "${sources[@]}" "$work/entry.cpp" -o "$work/plugin.so" \
  "$libraries/libraddle_policy.a" "$libraries/libraddle_base.a"
mv "$work/plugin.so" "$out"
printf '== plug-in: %s (raddle run ... --plugin %s)\n' "$out" "$out"
