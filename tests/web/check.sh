#!/bin/sh
# Checks a built page in headless Chromium: tests/web/check.sh report|reproduction|papers|site PAGE.html [FOLDER FOR PICTURES]
# Exit status: 0 sound, 1 faulty (each fault on a line of its own), 2 usage.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
for tool in node "${CHROMIUM:-chromium}"; do
  command -v "$tool" >/dev/null || { echo "check.sh: $tool is not installed" >&2; exit 2; }
done
check="$here/check_${1:-}.mjs"
[ -f "$check" ] || { echo "usage: check.sh report|reproduction|papers|site PAGE.html [FOLDER]" >&2; exit 2; }
shift
exec node "$check" "$@"
