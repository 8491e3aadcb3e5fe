#!/usr/bin/env bash
# lengths.sh FILE...: names every file over 600 lines, function over 100 lines and line over 100 columns. A function
# right below the comment "// lengths: dispatch table" is one switch over all operations and may be longer.
set -euo pipefail
status=0
for file in "$@"; do
  lines=$(wc -l <"$file")
  if [ "$lines" -gt 600 ]; then
    echo "$file: $lines lines, at most 600 are allowed"
    status=1
  fi
done
# Characters, not bytes: grep counts by locale, Debian's awk does not.
if LC_ALL=C.UTF-8 grep -HnE '^.{101,}' "$@" | cut -d: -f1,2 | sed 's/$/: over 100 columns/' | grep .; then
  status=1
fi
# ctags gives a function's first and last line.
ctags -f - --languages=C++ --c++-kinds=f --fields=ne --excmd=number "$@" |
  awk -F'\t' '{
    line = end = 0
    for (i = 3; i <= NF; i++) {
      if ($i ~ /^line:/) line = substr($i, 6)
      if ($i ~ /^end:/) end = substr($i, 5)
    }
    exempt = 0
    if (end - line + 1 > 100) {
      for (n = 1; n < line + 0 && (getline text < $2) > 0; n++)
        exempt = (text == "// lengths: dispatch table")
      close($2)
    }
    if (end - line + 1 > 100 && !exempt) {
      print $2 ":" line ": function " $1 " has " end - line + 1 " lines, at most 100 are allowed"; bad = 1
    }
  } END { exit bad }' || status=1
exit $status
