#!/usr/bin/env bash
# A shared object from policies' files: plugin.sh FILE.cpp... -o FILE.so. The files are as in src/raddle/policy/<level>/
# (docs/adding-a-policy.md); the program is built first if it is not there, as both must have the same headers.
set -euo pipefail
caller=$PWD
cd "$(dirname "${BASH_SOURCE[0]}")/.."
root=$PWD
# shellcheck source=scripts/common.sh
source scripts/common.sh
# shellcheck source=scripts/setup.sh
source scripts/setup.sh

sources=() out=
while [ $# -gt 0 ]; do
  case $1 in
    -o)
      [ $# -ge 2 ] || fail "-o needs a file name"
      out=$2
      shift
      ;;
    -*) fail "plugin: unknown option '$1' (only -o FILE.so)" ;;
    *) sources+=("$1") ;;
  esac
  shift
done
if [ ${#sources[@]} -eq 0 ] || [ -z "$out" ]; then
  fail "plugin: expected FILE.cpp... -o FILE.so"
fi

need build
if [ ! -x build/release/raddle ] || [ ! -f build/release/generated/raddle/policy/interface_hash.h ]; then
  build_page
  build_preset release raddle
fi
cd "$caller"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
entry=$work/entry.cpp declarations='' calls=''
for source in "${sources[@]}"; do
  [ -f "$source" ] || fail "plugin: there is no file $source"
  found=
  # void add_warp_mine(Registry<WarpPolicy>& r): level and name are in the function's name.
  while read -r level name type; do
    found=yes
    declarations+="void add_${level}_$name(Registry<$type>&);"$'\n'
    calls+="  add_${level}_$name(all.$level);"$'\n'
  done < <(sed -nE 's/^ *void add_([a-z0-9]+)_([a-z0-9_]+)\( *Registry<([A-Za-z]+)> *&.*/\1 \2 \3/p' "$source")
  [ -n "$found" ] || fail "plugin: $source has no line 'void add_<level>_<name>(Registry<...>& r)'"
done
cat >"$entry" <<TEXT
#include "raddle/policy/plugin.h"
namespace raddle::policy {
${declarations}namespace {
void add_policies(Registries& all) {
$calls}
}  // namespace
}  // namespace raddle::policy
RADDLE_PLUGIN(raddle::policy::add_policies)
TEXT
flags=(-std=c++20 -O2 -fPIC -shared -fvisibility=hidden -fvisibility-inlines-hidden -fno-lto
  -I "$root/src" -I "$root/build/release/generated")
[ "$(uname -m)" = x86_64 ] && flags+=(-march=x86-64-v3 -ffp-contract=off)
# What policies call of rooms policy and base; nothing of the model.
"${CXX:-g++}" "${flags[@]}" "${sources[@]}" "$entry" -o "$work/plugin.so" \
  "$root/build/release/libraddle_policy.a" "$root/build/release/libraddle_base.a" -lfmt -lxxhash -ldl
mv "$work/plugin.so" "$out"
say "plug-in: $out (raddle run ... --plugin $out)"
