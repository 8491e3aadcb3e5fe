#!/usr/bin/env bash
# Installs the package in a bare Debian, a folder made by debootstrap, in which there are no sources, and does there as
# a user what the pages say: a workload, a CUDA program, plug-ins, a sweep, reports, a study in Python. Exit status 77: it cannot be done here.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# shellcheck source=scripts/common.sh
source scripts/common.sh

skip() {
  say "package: skipped: $*"
  exit 77
}
[ "$(id -u)" = 0 ] || skip "a bare Debian is made by root"
command -v debootstrap >/dev/null || skip "there is no debootstrap (apt-get install debootstrap)"
unshare --mount true 2>/dev/null || skip "nothing may be mounted here"

scripts/package.sh
package=$(echo build/package/*.deb)
work=$(mktemp -d)
# Mounts are the child's own and go with it.
trap 'rm -rf --one-file-system "$work"' EXIT
bare=$work/debian
mkdir -p build/package/archives
say "package: a bare Debian in $bare"
debootstrap --variant=minbase --cache-dir="$PWD/build/package/archives" bookworm "$bare" \
  "${RADDLE_MIRROR:-http://deb.debian.org/debian}" >build/package/debootstrap.log 2>&1 ||
  { tail -3 build/package/debootstrap.log >&2 && skip "debootstrap failed (build/package/debootstrap.log): no archive?"; }

# A CUDA program from elsewhere: by nvcc where there is one, else the one that is built without a toolkit.
program=$work/app
if command -v nvcc >/dev/null; then
  nvcc -cudart shared -arch=sm_80 -o "$program" examples/cuda/histogram.cu
else
  build_preset release cuda_app
  cp build/release/tests/cuda_app "$program"
fi
cp "$package" "$bare/raddle.deb"
cp "$program" "$bare/usr/local/bin/app"
cp scripts/package_tour.sh "$bare/usr/local/bin/tour"
cp scripts/pages.sh "$bare/usr/local/bin/pages"
# shellcheck disable=SC2016  # the shell within expands it
unshare --mount sh -ec '
  mount -t proc proc "$1/proc"
  export DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8
  apt="chroot $1 apt-get -qq -y --no-install-recommends -o DPkg::Options::=--force-unsafe-io"
  $apt update
  $apt install /raddle.deb
  chroot "$1" useradd --create-home user
  echo "== package: as a user, with nothing but its dependencies"
  chroot "$1" su user -s /bin/bash -c "cd && tour run"
  $apt install g++ cmake make pkg-config python3
  echo "== package: as a user, with a compiler"
  chroot "$1" su user -s /bin/bash -c "cd && tour compile"
  $apt install python3-numpy
  echo "== package: as a user, in Python"
  chroot "$1" su user -s /bin/bash -c "cd && tour python"
  $apt remove raddle
  ! chroot "$1" sh -c "ls -d /usr/lib/raddle /usr/include/raddle /usr/share/raddle /usr/lib/python3/dist-packages/raddle/*.so" 2>/dev/null
' sh "$bare" 2>&1 | tee build/package/test.log
say "package: installed, used and removed in a bare Debian"
