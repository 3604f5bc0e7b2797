#!/usr/bin/env bash
# Builds the programs of this folder as ordinary Go modules, and prints the folder they are in. The folder is
# named after the sources and versions, so a second run has nothing to do.
#
#   build.sh        informers and manager with the newest client-go, the one of go.mod
#   build.sh --all  informers-VERSION for every file of versions/, too
#
# TESTBED_HOME overrides where the folder is made (default: ~/.cache/karmada-testbed).
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
cd "$here"
home=${TESTBED_HOME:-${XDG_CACHE_HOME:-$HOME/.cache}/karmada-testbed}
stamp=$({ cat build.sh ./*/*.go go.mod versions/*.mod; go env GOVERSION GOARCH; } | sha256sum | cut -c1-16)
out=$home/clients-$stamp/bin
mkdir -p "$out"
exec 9> "$home/clients-$stamp/lock"
flock 9

# build OUTPUT ARGUMENTS_OF_GO_BUILD...
build() {
  local output=$out/$1
  shift
  [[ -x $output ]] && return
  printf '%s clients: building %s\n' "$(date +%H:%M:%S)" "$(basename "$output")" >&2
  nice -n 10 go build -buildvcs=false -ldflags '-s -w' -o "$output.tmp" "$@" >&2
  mv "$output.tmp" "$output"
}

build informers ./informers
build manager ./manager
if [[ ${1:-} == --all ]]; then
  for versions in versions/*.mod; do
    build "informers-$(basename "$versions" .mod)" -modfile="$versions" ./informers
  done
fi
echo "$out"
