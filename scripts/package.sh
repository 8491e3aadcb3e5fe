#!/usr/bin/env bash
# A Debian package of the release build, by CPack: build/package/raddle_*.deb. What goes where says cmake/install.cmake.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# shellcheck source=scripts/common.sh
source scripts/common.sh
# shellcheck source=scripts/setup.sh
source scripts/setup.sh

[ $# = 0 ] || fail "package: unknown argument '$1'"
need build page package python
build_page
PYTHON=/usr/bin/python3 build_python  # Debian's, whichever the user's is
build_preset release program
mkdir -p build/package
rm -f build/package/*.deb
cpack --config build/release/CPackConfig.cmake -B build/package >build/package/cpack.log 2>&1 ||
  { tail -20 build/package/cpack.log >&2 && fail "cpack failed (all of it: build/package/cpack.log)"; }
rm -rf build/package/_CPack_Packages
say "package: $(echo build/package/*.deb) (apt-get install ./FILE.deb)"
