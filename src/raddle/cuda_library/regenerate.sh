#!/bin/sh
# Compiles the kernels of our libraries for CUDA programs, ../*/kernels/*.cu, to the .ptx beside them with clang-19 (no
# CUDA toolkit).
#   regenerate.sh             write them
#   regenerate.sh --check     compare only; 1 when one is out of date
# Without clang-19 --check says so and succeeds: the checked-in PTX is what gets built.
set -eu
cd "$(dirname "$0")"
check=0
if [ "${1:-}" = --check ]; then check=1; fi

clang=$(command -v clang++-19 || command -v clang-19 || true)
if [ -z "$clang" ]; then
  echo "regenerate.sh: clang-19 is not installed, the PTX is left as it is" >&2
  [ "$check" = 1 ] && exit 0
  exit 2
fi

fresh=$(mktemp)
trap 'rm -f "$fresh"' EXIT
stale=0
for source in ../*/kernels/*.cu; do
  # Those of matrix instructions say which machine they need; all others run on every one.
  target=$(sed -n 's,^// target: ,,p' "$source")
  # Comments carry compiler version and paths: dropped, with the blank lines.
  "$clang" -x cuda --cuda-path=/nonexistent --cuda-device-only --cuda-gpu-arch="${target:-sm_70}" \
    --cuda-feature=+ptx72 -nocudainc -nocudalib -std=c++20 -Wall -Wextra -Werror \
    -I ../.. -I ../../../workloads -O3 -S "$source" -o - |
    sed -e 's,[[:space:]]*//.*$,,' -e '/^[[:space:]]*$/d' > "$fresh"
  name=${source%.cu}.ptx
  grep -q '^\.visible \.entry' "$fresh" || { echo "$source: no kernel came out" >&2; exit 1; }
  if [ "$check" = 0 ]; then
    cat "$fresh" > "$name"
  elif ! cmp -s "$fresh" "$name"; then
    echo "$name is not what $clang makes of $source" >&2
    stale=1
  fi
done
exit $stale
