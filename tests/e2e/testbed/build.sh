#!/usr/bin/env bash
# Builds the real servers that the end-to-end tests and the benchmarks run on, as ordinary Go modules, and
# prints the folder they are in. The folder is named after the versions, so a second run has nothing to do.
#
#   build.sh             etcd, the Kubernetes servers and kubectl, kwok, helm, Karmada's servers, its agent, its
#                        metrics adapter and karmadactl
#   build.sh --upstream  the same and upstream's karmada-controller-manager and karmada-search, to compare with
#
# TESTBED_HOME overrides where the folder is made (default: ~/.cache/karmada-testbed).
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
readonly here
readonly min_go=1.25.10
readonly karmada_module=github.com/karmada-io/karmada
with_upstream=false
[[ ${1:-} == --upstream ]] && with_upstream=true

say() { printf '%s testbed: %s\n' "$(date +%H:%M:%S)" "$*" >&2; }
die() {
  printf 'testbed: %s\n' "$*" >&2
  exit 1
}

check_go() {
  local advice="The end-to-end tests build Kubernetes and Karmada with Go $min_go or newer; \
Debian 12's own golang package is too old. Put such a 'go' into PATH and try again."
  command -v go > /dev/null || die "no 'go' in PATH. $advice"
  # Within a module that asks for a newer Go, a Go from 1.21 on fetches that toolchain unless told not to.
  local have
  have=$(cd "$here/karmada" && go env GOVERSION 2>&1) || die "$have. $advice"
  have=${have#go}
  [[ $(printf '%s\n' "$min_go" "$have" | sort -V | head -1) == "$min_go" ]] ||
    die "$(command -v go) is Go $have. $advice"
}

# The folder's name: changes with any version of any module, the Go used and this script.
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
    say "building ${pair##*=}"
    (cd "$here/$folder" && go build -ldflags "-s -w $ldflags" \
      -o "$output.tmp" "$package") || die "building ${pair##*=} did not succeed (see above)"
    mv "$output.tmp" "$output"
  done
}

build_kubernetes() {
  local version minor
  version=$(version_of kubernetes k8s.io/kubernetes)
  minor=$(cut -d. -f2 <<< "$version")
  local v=k8s.io/component-base/version
  build kubernetes "-X $v.gitVersion=$version -X $v.gitMajor=1 -X $v.gitMinor=$minor" \
    k8s.io/kubernetes/cmd/kube-apiserver=kube-apiserver \
    k8s.io/kubernetes/cmd/kube-controller-manager=kube-controller-manager \
    k8s.io/kubernetes/cmd/kube-scheduler=kube-scheduler \
    k8s.io/kubernetes/cmd/kubectl=kubectl
}

# Helm takes its own version, and the version of Kubernetes that it lints and renders for, from the linker.
build_helm() {
  local minor module=helm.sh/helm/v3
  minor=$(version_of helm k8s.io/client-go | cut -d. -f2)
  build helm "-X $module/internal/version.version=$(version_of helm $module) \
    -X $module/pkg/chartutil.k8sVersionMajor=1 -X $module/pkg/chartutil.k8sVersionMinor=$minor \
    -X $module/pkg/lint/rules.k8sVersionMajor=1 -X $module/pkg/lint/rules.k8sVersionMinor=$minor" \
    $module/cmd/helm=helm
}

build_karmada() {
  local flags
  flags="-X $karmada_module/pkg/version.gitVersion=$(version_of karmada $karmada_module)"
  build karmada "$flags" \
    $karmada_module/cmd/aggregated-apiserver=karmada-aggregated-apiserver \
    $karmada_module/cmd/webhook=karmada-webhook \
    $karmada_module/cmd/scheduler=karmada-scheduler \
    $karmada_module/cmd/agent=karmada-agent \
    $karmada_module/cmd/metrics-adapter=karmada-metrics-adapter \
    $karmada_module/cmd/karmadactl=karmadactl
  if $with_upstream; then
    build karmada "$flags" $karmada_module/cmd/controller-manager=upstream-controller-manager \
      $karmada_module/cmd/karmada-search=upstream-search
  fi
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

check_go
home=${TESTBED_HOME:-${XDG_CACHE_HOME:-$HOME/.cache}/karmada-testbed}
out=$home/$(stamp)
mkdir -p "$out/bin"
exec 9> "$out/lock"
flock -n 9 || { say "another build is running, waiting for it"; flock 9; }

[[ -x $out/bin/karmadactl ]] || say "building the servers into $out (about 12 minutes on two cores the first time)"
build etcd "" go.etcd.io/etcd/server/v3=etcd
build kwok "" sigs.k8s.io/kwok/cmd/kwok=kwok
build_helm
build_kubernetes
build_karmada
copy_manifests
echo "$out"
