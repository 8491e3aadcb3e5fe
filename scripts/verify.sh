#!/usr/bin/env bash
# The files that tests write: docs/verification.md from tests/analytic, and from the code the table of docs/cuda.md,
# docs/metrics.md and web/src/catalogue.ts; `--check` only says whether the first is current (tests say it of the others).
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
  build_preset release test_unit_cudart test_unit_sim
  RADDLE_CUDA_PAGE=1 build/release/tests/test_unit_cudart --gtest_brief=1 --gtest_filter='Api.Documentation*'
  RADDLE_CATALOGUE=1 build/release/tests/test_unit_sim --gtest_brief=1 --gtest_filter='CatalogueFiles.*'
  say "verify: docs/verification.md, docs/cuda.md, docs/metrics.md and web/src/catalogue.ts written"
fi
