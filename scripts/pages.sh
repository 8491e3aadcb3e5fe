#!/usr/bin/env bash
# pages.sh SHARE PAGE.md...: runs the blocks of the pages that are marked "sh", in their order, as a reader would, each page in
# an empty folder that has SHARE's examples, gpus and experiments. Blocks marked "sh nvcc" where there is nvcc.
# `raddle` is the one in PATH.
set -euo pipefail
share=$(cd "$1" && pwd)
shift
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
status=0
for page in "$@"; do
  name=$(basename "$page" .md)
  nvcc=no
  ! command -v nvcc >/dev/null || nvcc=yes
  awk -v nvcc=$nvcc '/^```/ { take = !inside && ($0 == "```sh" || ($0 == "```sh nvcc" && nvcc == "yes")); inside = !inside; next }
    take' "$page" >"$work/$name.sh"
  [ -s "$work/$name.sh" ] || { echo "pages: $page has no block to run" >&2 && status=1 && continue; }
  mkdir "$work/$name"
  ln -s "$share/examples" "$share/gpus" "$share/experiments" "$work/$name"
  if (cd "$work/$name" && bash -euo pipefail "$work/$name.sh") >"$work/$name.log" 2>&1; then
    echo "pages: $name: its $(grep -c '^raddle' "$work/$name.sh") commands do what they say"
  else
    echo "pages: $page: a command failed" >&2
    tail -15 "$work/$name.log" >&2
    status=1
  fi
done
exit $status
