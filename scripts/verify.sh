#!/usr/bin/env bash
# The verification page: verify.sh writes docs/verification.md from the tests of tests/analytic; `--check` only says
# whether it is current.
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
  say "verify: docs/verification.md written"
fi
