#!/bin/sh
# Checks a report page in headless Chromium: tests/web/check_report.sh REPORT.html [FOLDER FOR PICTURES]
# Exit status: 0 sound, 1 faulty (each fault on a line of its own), 2 usage.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
for tool in node "${CHROMIUM:-chromium}"; do
  command -v "$tool" >/dev/null || { echo "check_report.sh: $tool is not installed" >&2; exit 2; }
done
exec node "$here/check_report.mjs" "$@"
