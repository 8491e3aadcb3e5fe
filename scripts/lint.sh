#!/usr/bin/env bash
# Style: clang-format, lengths, the rules of tests/house, shell scripts. `--fix` formats the sources first.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# shellcheck source=scripts/common.sh
source scripts/common.sh
# shellcheck source=scripts/setup.sh
source scripts/setup.sh

need build lint
mapfile -t sources < <(find src tests bench workloads python -name '*.h' -o -name '*.cpp' -o -name '*.cc' | sort)
# Kernels are C++ in CUDA's dialect: clang-format 14 knows it, ctags does not.
mapfile -t kernels < <(find workloads src -name '*.cu' | sort)
bad=0

if [ "${1:-}" = --fix ]; then
  clang-format -i "${sources[@]}" "${kernels[@]}"
  say "lint: formatted ${#sources[@]} sources"
fi

say "lint: clang-format on $((${#sources[@]} + ${#kernels[@]})) files"
clang-format --dry-run -Werror "${sources[@]}" "${kernels[@]}" 2>build/format.log || {
  grep -o '^[^ ]*: error' build/format.log | cut -d: -f1 | sort | uniq -c |
    awk '{ print $2 ": " $1 " places differ from clang-format" }'
  bad=1
}

say "lint: lengths (600 lines a file, 100 a function, 100 columns)"
scripts/lengths.sh "${sources[@]}" || bad=1

say "lint: shellcheck"
mapfile -t scripts < <(printf '%s\n' x .ci/run scripts/*.sh workloads/*.sh src/raddle/*/*.sh tests/web/*.sh)
shellcheck -x "${scripts[@]}" || bad=1

say "lint: rules of the house (includes, printing, words of a sentence)"
build_preset release test_house >build/house.log || { tail -20 build/house.log && bad=1; }
build/release/tests/test_house --gtest_brief=1 || bad=1

[ $bad = 0 ] && say "lint: clean"
exit $bad
