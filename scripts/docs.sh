#!/usr/bin/env bash
# The pages as a site in build/site, to be opened as files or served by anything; every link is followed.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# shellcheck source=scripts/common.sh
source scripts/common.sh
# shellcheck source=scripts/setup.sh
source scripts/setup.sh

[ $# = 0 ] || fail "docs: unknown argument '$1'"
need build page docs
build_page
build_preset release program
# Debian's Python has Debian's modules; another one may stand before it in PATH.
python=/usr/bin/python3
[ -x $python ] || python=python3
PYTHONDONTWRITEBYTECODE=1 $python scripts/site/build.py build/release/raddle build/site
