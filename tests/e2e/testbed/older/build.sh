#!/usr/bin/env bash
# Builds the older servers that `make compat` runs our daemon with, and prints the folder they are in: the servers of
# Karmada and of Kubernetes that the modules beside this script pin. What a plane needs besides them, such as etcd and
# kubectl, is the testbed's own (../build.sh). The folder is named after the versions and this script, apart from the
# testbed's, so that neither of the two is built again because of the other.
#
# TESTBED_HOME overrides where the folder is made (default: ~/.cache/karmada-testbed).
set -euo pipefail

# The functions of the testbed's own script: all that comes before it begins to work. They find the modules beside the
# script that runs, which is this one. A file that both read would have changed the name of the testbed's folder.
# shellcheck source=/dev/null
source <(sed '/^check_go$/,$d' "$(dirname "$0")/../build.sh")

build_older_kubernetes() {
  local version v=k8s.io/component-base/version
  version=$(version_of kubernetes k8s.io/kubernetes)
  build kubernetes "-X $v.gitVersion=$version -X $v.gitMajor=1 -X $v.gitMinor=$(cut -d. -f2 <<< "$version")" \
    k8s.io/kubernetes/cmd/kube-apiserver=kube-apiserver \
    k8s.io/kubernetes/cmd/kube-controller-manager=kube-controller-manager \
    k8s.io/kubernetes/cmd/kube-scheduler=kube-scheduler
}

build_older_karmada() {
  build karmada "-X $karmada_module/pkg/version.gitVersion=$(version_of karmada $karmada_module)" \
    $karmada_module/cmd/aggregated-apiserver=karmada-aggregated-apiserver \
    $karmada_module/cmd/webhook=karmada-webhook \
    $karmada_module/cmd/scheduler=karmada-scheduler
}

check_go
home=${TESTBED_HOME:-${XDG_CACHE_HOME:-$HOME/.cache}/karmada-testbed}
out=$home/older-$(stamp)
mkdir -p "$out/bin"
exec 9> "$out/lock"
flock -n 9 || { say "another build is running, waiting for it"; flock 9; }

[[ -x $out/bin/karmada-scheduler ]] || say "building the older servers into $out (about 12 minutes on two cores the first time)"
build_older_kubernetes
build_older_karmada
copy_manifests
echo "$out"
