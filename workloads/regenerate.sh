#!/bin/sh
# Compiles workloads/*/kernels.cu to the kernels.ptx beside it with clang-19 (no CUDA toolkit).
#   regenerate.sh [NAME...]           write them
#   regenerate.sh --check [NAME...]   compare only; 1 when one is out of date
# Without clang-19 --check says so and succeeds: the checked-in PTX is what gets built.
set -eu
cd "$(dirname "$0")"
check=0
if [ "${1:-}" = --check ]; then check=1; shift; fi

clang=$(command -v clang++-19 || command -v clang-19 || true)
if [ -z "$clang" ]; then
  echo "regenerate.sh: clang-19 is not installed, kernels.ptx left as it is" >&2
  [ "$check" = 1 ] && exit 0
  exit 2
fi

fresh=$(mktemp)
trap 'rm -f "$fresh"' EXIT
if [ $# -eq 0 ]; then
  for source in */kernels.cu; do set -- "$@" "$(dirname "$source")"; done
fi
stale=0
for name in "$@"; do
  # Kernels that need a newer machine say so; all others run on every one.
  target=$(sed -n 's,^// target: ,,p' "$name/kernels.cu")
  case "$target" in sm_90a) ptx=ptx80 ;; *) ptx=ptx72 ;; esac
  # Comments carry compiler version and paths: dropped, with the blank lines.
  "$clang" -x cuda --cuda-path=/nonexistent --cuda-device-only --cuda-gpu-arch="${target:-sm_70}" \
    --cuda-feature=+$ptx -nocudainc -nocudalib -std=c++20 -Wall -Wextra -Werror -I . -O3 -S \
    "$name/kernels.cu" -o - |
    sed -e 's,[[:space:]]*//.*$,,' -e '/^[[:space:]]*$/d' > "$fresh"
  grep -q '^\.visible \.entry' "$fresh" || { echo "$name: no kernel came out" >&2; exit 1; }
  if [ "$check" = 0 ]; then
    cat "$fresh" > "$name/kernels.ptx"
  elif ! cmp -s "$fresh" "$name/kernels.ptx"; then
    echo "$name/kernels.ptx is not what $clang makes of $name/kernels.cu" >&2
    stale=1
  fi
done
exit $stale
