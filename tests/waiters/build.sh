#!/usr/bin/env bash
# Builds kstatus, argo and helm of this folder as ordinary Go modules, and prints the folder they are in. The folder
# is named after the sources and versions, so a second run has nothing to do.
#
# TESTBED_HOME overrides where the folder is made (default: ~/.cache/karmada-testbed).
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
cd "$here"
home=${TESTBED_HOME:-${XDG_CACHE_HOME:-$HOME/.cache}/karmada-testbed}
stamp=$({ cat build.sh */*.go */go.mod; go env GOVERSION GOARCH; } | sha256sum | cut -c1-16)
out=$home/waiters-$stamp/bin
mkdir -p "$out"
exec 9> "$home/waiters-$stamp/lock"
flock 9

# build NAME PACKAGE: builds a package of the module in the folder NAME.
build() {
  local output=$out/$1
  [[ -x $output ]] && return
  printf '%s waiters: building %s\n' "$(date +%H:%M:%S)" "$1" >&2
  (cd "$1" && nice -n 10 go build -buildvcs=false -ldflags '-s -w' -o "$output.tmp" "$2" >&2)
  mv "$output.tmp" "$output"
}

build kstatus .
build argo .
build helm helm.sh/helm/v4/cmd/helm
echo "$out"
