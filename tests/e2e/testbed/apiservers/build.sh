#!/usr/bin/env bash
# Builds kube-apiserver of each minor version of Kubernetes that a module beside this script pins, and nothing else of it:
# `make compat` writes statuses to them. Prints a line for each, "v1.34 <folder>". A folder is named after the module's
# versions, the Go used and this script, so a second run has nothing to do, and no version is built again because of another.
# The etcd that they need is the testbed's own (../build.sh).
#
# TESTBED_HOME overrides where the folders are made (default: ~/.cache/karmada-testbed).
set -euo pipefail

# The functions of the testbed's own script: all that comes before it begins to work. They find the modules beside the
# script that runs, which is this one.
# shellcheck source=/dev/null
source <(sed '/^check_go$/,$d' "$(dirname "$0")/../build.sh")

# stamp_of VERSION: what names its folder.
stamp_of() {
  { cat "$here/$1/go.mod" "$here/build.sh"; cd "$here/$1" && go env GOVERSION GOARCH; } | sha256sum | cut -c1-16
}

build_version() {
  local name=$1 version v=k8s.io/component-base/version
  mkdir -p "$out/bin"
  exec 9> "$out/lock"
  flock -n 9 || { say "another build is running, waiting for it"; flock 9; }
  version=$(version_of "$name" k8s.io/kubernetes)
  build "$name" "-X $v.gitVersion=$version -X $v.gitMajor=1 -X $v.gitMinor=$(cut -d. -f2 <<< "$version")" \
    k8s.io/kubernetes/cmd/kube-apiserver=kube-apiserver
}

home=${TESTBED_HOME:-${XDG_CACHE_HOME:-$HOME/.cache}/karmada-testbed}
for module in "$here"/v*/; do
  name=$(basename "$module")
  stamp=$(stamp_of "$name") || die "Go cannot read the module $module (see above)"
  out=$home/apiserver-$name-$stamp
  [[ -x $out/bin/kube-apiserver ]] || say "building kube-apiserver $name (about 4 minutes on two cores the first time)"
  build_version "$name"
  echo "$name $out"
done
