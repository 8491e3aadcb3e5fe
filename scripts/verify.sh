#!/usr/bin/env bash
# The pages that tests write: docs/verification.md from tests/analytic, and the table of docs/cuda.md from the code;
# `--check` only says whether the first is current (a test says it of the second).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# shellcheck source=scripts/common.sh
source scripts/common.sh
# shellcheck source=scripts/setup.sh
source scripts/setup.sh

check=${1:-}
[ -z "$check" ] || [ "$check" = --check ] || fail "verify: unknown argument '$check' (only --check)"
need build
build_preset release test_analytic
new=build/verification.md
RADDLE_VERIFICATION=$new build/release/tests/test_analytic --gtest_brief=1
if [ "$check" = --check ]; then
  diff -u docs/verification.md $new || fail "docs/verification.md is not what the tests measure: ./x verify writes it"
  say "verify: docs/verification.md is current"
else
  mv $new docs/verification.md
  build_preset release test_unit_cudart
  RADDLE_CUDA_PAGE=1 build/release/tests/test_unit_cudart --gtest_brief=1 --gtest_filter='Api.Documentation*'
  say "verify: docs/verification.md and docs/cuda.md written"
fi
