#!/usr/bin/env bash
# Builds the older servers that `make compat` runs our daemon with, and prints the folder they are in: the servers of
# Karmada and of Kubernetes that the modules beside this script pin. What a plane needs besides them, such as etcd and
# kubectl, is the testbed's own (../build.sh). The folder is named after the versions and this script, apart from the
# testbed's, so that neither of the two is built again because of the other.
#
# TESTBED_HOME overrides where the folder is made (default: ~/.cache/karmada-testbed).
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
readonly here
readonly karmada_module=github.com/karmada-io/karmada
readonly kubernetes_version=k8s.io/component-base/version

say() { printf '%s testbed: %s\n' "$(date +%H:%M:%S)" "$*" >&2; }
die() {
  printf 'testbed: %s\n' "$*" >&2
  exit 1
}

# The folder's name: changes with any version of either module, the Go used and this script.
stamp() {
  { cat "$here"/*/go.mod "$here/build.sh"; cd "$here/karmada" && go env GOVERSION GOARCH; } |
    sha256sum | cut -c1-16
}

version_of() { (cd "$here/$1" && go list -m -f '{{.Version}}' "$2"); }

# build MODULE_FOLDER LDFLAGS [PACKAGE=OUTPUT...]
build() {
  local folder=$1 ldflags=$2
  shift 2
  for pair in "$@"; do
    local package=${pair%%=*} output=$out/bin/${pair##*=}
    [[ -x $output ]] && continue
    say "building the older ${pair##*=}"
    (cd "$here/$folder" && go build -ldflags "-s -w $ldflags" \
      -o "$output.tmp" "$package") || die "building the older ${pair##*=} did not succeed (see above)"
    mv "$output.tmp" "$output"
  done
}

build_kubernetes() {
  local version v=$kubernetes_version
  version=$(version_of kubernetes k8s.io/kubernetes)
  build kubernetes "-X $v.gitVersion=$version -X $v.gitMajor=1 -X $v.gitMinor=$(cut -d. -f2 <<< "$version")" \
    k8s.io/kubernetes/cmd/kube-apiserver=kube-apiserver \
    k8s.io/kubernetes/cmd/kube-controller-manager=kube-controller-manager \
    k8s.io/kubernetes/cmd/kube-scheduler=kube-scheduler
}

build_karmada() {
  build karmada "-X $karmada_module/pkg/version.gitVersion=$(version_of karmada $karmada_module)" \
    $karmada_module/cmd/aggregated-apiserver=karmada-aggregated-apiserver \
    $karmada_module/cmd/webhook=karmada-webhook \
    $karmada_module/cmd/scheduler=karmada-scheduler
}

# Karmada's CRDs and webhook configurations, read from its module by the rig.
copy_manifests() {
  [[ -d $out/karmada ]] && return
  local source
  source=$(cd "$here/karmada" && go list -m -f '{{.Dir}}' $karmada_module)
  rm -rf "$out/karmada.tmp"
  mkdir -p "$out/karmada.tmp"
  cp -r "$source/charts/karmada/_crds" "$out/karmada.tmp/crds"
  cp "$source/artifacts/deploy/webhook-configuration.yaml" "$out/karmada.tmp/"
  chmod -R u+w "$out/karmada.tmp"
  mv "$out/karmada.tmp" "$out/karmada"
}

command -v go > /dev/null || die "no 'go' in PATH"
home=${TESTBED_HOME:-${XDG_CACHE_HOME:-$HOME/.cache}/karmada-testbed}
out=$home/older-$(stamp)
mkdir -p "$out/bin"
exec 9> "$out/lock"
flock -n 9 || { say "another build is running, waiting for it"; flock 9; }

[[ -x $out/bin/karmada-scheduler ]] || say "building the older servers into $out (minutes, the first time)"
build_kubernetes
build_karmada
copy_manifests
echo "$out"
