#!/usr/bin/env bash
# Builds the Kubernetes servers of other minor versions than the testbed's own, which `make compat` runs our daemon with: for
# each version the tools of the module beside this script that pins it. Prints a line for each, "v1.36 <folder>". A folder is
# named after the module's versions, the Go used and this script, so a second run has nothing to do, and no version is built
# again because of another. What a plane needs besides them, such as etcd and kubectl, is the testbed's own (../build.sh).
#
#   build.sh [VERSION...]  those of these minor versions (default: of all)
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

# The tools that a version's module lists, as pairs for build().
tools_of() { sed -nE 's#^(tool)?[[:space:]]+(k8s.io/kubernetes/cmd/([a-z-]+))$#\2=\3#p' "$here/$1/go.mod"; }

build_version() {
  local name=$1 version pairs v=k8s.io/component-base/version
  mkdir -p "$out/bin"
  exec 9> "$out/lock"
  flock -n 9 || { say "another build is running, waiting for it"; flock 9; }
  version=$(version_of "$name" k8s.io/kubernetes)
  mapfile -t pairs < <(tools_of "$name")
  build "$name" "-X $v.gitVersion=$version -X $v.gitMajor=1 -X $v.gitMinor=$(cut -d. -f2 <<< "$version")" "${pairs[@]}"
}

home=${TESTBED_HOME:-${XDG_CACHE_HOME:-$HOME/.cache}/karmada-testbed}
cd "$here"
[[ $# -gt 0 ]] || set -- v*
for name in "$@"; do
  stamp=$(stamp_of "$name") || die "Go cannot read the module $here/$name (see above)"
  out=$home/kubernetes-$name-$stamp
  [[ -x $out/bin/kube-apiserver ]] || say "building Kubernetes $name (about 6 minutes on two cores the first time)"
  build_version "$name"
  echo "$name $out"
done
