"""The pods that upstream's four installers make of karmada-controller-manager and karmada-search, read from upstream's module.

deployments(program) is {installer: Deployment}. Nothing in them is changed, but that placeholders have values.
"""

import re
import shutil

import yaml

from . import paths
from .helm import Helm, objects, the

NAMESPACE = "karmada-system"
# What upstream's chart takes from a chart of another project that its package contains.
_COMMON = """
{{- define "common.images.image" -}}
{{ .imageRoot.registry }}/{{ .imageRoot.repository }}:{{ .imageRoot.tag }}
{{- end -}}
{{- define "common.images.pullSecrets" -}}{{- end -}}
"""
_VALUES = {"DeploymentName": "karmada", "Namespace": NAMESPACE, "SystemNamespace": NAMESPACE, "KarmadaInstanceName": "karmada",
           "Replicas": "1", "Image": "image", "ImagePullPolicy": "IfNotPresent", "PriorityClassName": "system-node-critical",
           "KarmadaCertsSecret": "karmada-cert"}


def deployments(program):
    """{installer: Deployment} of a program."""
    module = paths.upstream_module()
    return {"artifacts": _artifacts(module, program), "helm": _helm(module, program),
            "operator": _operator(module, program), "karmadactl": _karmadactl(module, program)}


def _artifacts(module, program):
    text = (module / "artifacts" / "deploy" / f"{program}.yaml").read_text()
    return the("Deployment", objects(text.replace("{{KUBE_CACHE_MUTATION_DETECTOR}}", "false")))


def _helm(module, program):
    chart = paths.BUILD / "e2e-helm" / "upstream"
    shutil.rmtree(chart, ignore_errors=True)
    shutil.copytree(module / "charts" / "karmada", chart, copy_function=shutil.copyfile)
    chart.chmod(0o755)
    common = chart / "charts" / "common"
    (common / "templates").mkdir(parents=True)
    version = yaml.safe_load((chart / "Chart.yaml").read_text())["dependencies"][0]["version"].replace("x", "0")
    (common / "Chart.yaml").write_text(f"{{apiVersion: v2, name: common, version: {version}, type: library}}")
    (common / "templates" / "_images.tpl").write_text(_COMMON)
    return the("Deployment", objects(Helm()(
        "template", "karmada", chart, "--namespace", NAMESPACE, "--set", "components={search}",
        "--show-only", f"templates/{program}.yaml")))


def _constant(file, name):
    """A manifest in a Go source, with its placeholders filled in."""
    text = re.search(name + r" = `(.*?)`", file.read_text(), re.DOTALL).group(1)
    text = re.sub(r"\{\{- if .*?\{\{- end \}\}", "", text, flags=re.DOTALL)
    return lambda **values: yaml.safe_load(
        re.sub(r"\{\{ \.(\w+) \}\}", lambda placeholder: {**_VALUES, **values}[placeholder.group(1)], text))


def _operator(module, program):
    plane = module / "operator" / "pkg" / "controlplane"
    if program == "karmada-controller-manager":
        return _constant(plane / "manifests.go", "KamradaControllerManagerDeployment")(KubeconfigSecret=f"{program}-config")
    deployment = _constant(plane / "search" / "manifests.go", "KarmadaSearchDeployment")(KubeconfigSecret=f"{program}-config")
    # As operator/pkg/controlplane/etcd/util.go (ConfigureClientCredentials) completes it.
    pod, folder = deployment["spec"]["template"]["spec"], "/etc/karmada/pki/etcd-client"
    pod["containers"][0]["command"] += [
        f"--etcd-cafile={folder}/etcd-ca.crt", f"--etcd-certfile={folder}/etcd-client.crt",
        f"--etcd-keyfile={folder}/etcd-client.key",
        f"--etcd-servers=https://karmada-etcd-client.{NAMESPACE}.svc.cluster.local:2379"]
    pod["containers"][0]["volumeMounts"].append({"name": "etcd-client-cred", "mountPath": folder, "readOnly": True})
    pod["volumes"].append({"name": "etcd-client-cred", "secret": {"secretName": "karmada-etcd-cert"}})
    return deployment


def _karmadactl(module, program):
    if program == "karmada-search":
        return _constant(module / "pkg" / "karmadactl" / "addons" / "search" / "manifests.go", "karmadaSearchDeployment")(
            ETCDSevers=f"https://etcd-0.etcd.{NAMESPACE}.svc.cluster.local:2379")
    # A Go function lists the words; pkg/karmadactl/cmdinit/kubernetes/deployments.go has the rest.
    source = (module / "pkg" / "karmadactl" / "cmdinit" / "kubernetes" / "command.go").read_text()
    body = re.search(r"defaultKarmadaControllerManagerContainerCommand\(\) \[\]string \{(.*?)\n\}", source, re.DOTALL).group(1)
    words = [word.replace("--kubeconfig=%s", "--kubeconfig=/etc/karmada/config/karmada.config").replace("%s", NAMESPACE)
             for word in re.findall(r'"([^"]*)"', body)]
    container = {
        "name": program, "image": "image", "command": words,
        "env": [{"name": "POD_IP", "valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}}}],
        "livenessProbe": {"httpGet": {"path": "/healthz", "port": 10357, "scheme": "HTTP"}},
        "ports": [{"name": "server", "containerPort": 10357}, {"name": "metrics", "containerPort": 8080}],
        "volumeMounts": [{"name": "karmada-config", "mountPath": "/etc/karmada/config", "readOnly": True}]}
    volume = {"name": "karmada-config", "secret": {"secretName": f"{program}-config"}}
    return {"kind": "Deployment", "spec": {"template": {"spec": {"containers": [container], "volumes": [volume]}}}}
