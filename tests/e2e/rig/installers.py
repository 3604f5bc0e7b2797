"""The pods that upstream's four installers make of karmada-controller-manager and karmada-search, read from upstream's module.

deployments(program) is {installer: Deployment}. Nothing in them is changed, but that placeholders have values.
manifests() is {installer: objects}, all that has pods or selects them.
"""

import collections
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


def deployments(program, namespace=NAMESPACE, helm_values=()):
    """{installer: Deployment} of a program. `namespace` is that of the pods; the manifests of hack/deploy-karmada.sh have one
    of their own. `helm_values` are words for --set of upstream's chart."""
    module = paths.upstream_module()
    return {"artifacts": _artifacts(module, program), "helm": _helm(module, program, namespace, helm_values),
            "operator": _operator(module, program, namespace), "karmadactl": _karmadactl(module, program, namespace)}


def manifests():
    """{installer: [object]}: everything that an installer of upstream's makes in the hosting cluster and that has pods or
    selects them."""
    module = paths.upstream_module()
    return {"artifacts": _all_artifacts(module), "helm": _whole_chart(module),
            "operator": _all_of_the_operator(module), "karmadactl": _all_of_karmadactl(module)}


def _artifacts(module, program):
    text = (module / "artifacts" / "deploy" / f"{program}.yaml").read_text()
    return the("Deployment", objects(text.replace("{{KUBE_CACHE_MUTATION_DETECTOR}}", "false")))


def _all_artifacts(module):
    texts = [file.read_text() for file in sorted((module / "artifacts" / "deploy").glob("*.yaml"))]
    return [each for text in texts for each in yaml.safe_load_all(re.sub(r"\{\{.*?\}\}", "x", text)) if each]


def _lay_out_chart(module):
    chart = paths.BUILD / "e2e-helm" / "upstream"
    shutil.rmtree(chart, ignore_errors=True)
    shutil.copytree(module / "charts" / "karmada", chart, copy_function=shutil.copyfile)
    chart.chmod(0o755)
    common = chart / "charts" / "common"
    (common / "templates").mkdir(parents=True)
    version = yaml.safe_load((chart / "Chart.yaml").read_text())["dependencies"][0]["version"].replace("x", "0")
    (common / "Chart.yaml").write_text(f"{{apiVersion: v2, name: common, version: {version}, type: library}}")
    (common / "templates" / "_images.tpl").write_text(_COMMON)
    return chart


def _helm(module, program, namespace, values):
    return the("Deployment", objects(Helm()(
        "template", "karmada", _lay_out_chart(module), "--namespace", namespace, "--set", "components={search}",
        *(word for value in values for word in ("--set", value)), "--show-only", f"templates/{program}.yaml")))


def _whole_chart(module):
    """With the budgets that it can make."""
    budgets = [word for key in ("controllerManager", "search")
               for word in ("--set", f"{key}.podDisruptionBudget.maxUnavailable=1")]
    text = Helm()("template", "karmada", _lay_out_chart(module), "--namespace", NAMESPACE,
                  "--set", "components={search,descheduler,metricsAdapter}", *budgets)
    return [each for each in yaml.safe_load_all(text) if each]


def _constant(file, name, namespace=NAMESPACE):
    """A manifest in a Go source, with its placeholders filled in."""
    text = re.search(name + r" = `(.*?)`", file.read_text(), re.DOTALL).group(1)
    return lambda **values: _filled(text, {**_VALUES, "Namespace": namespace, **values})


def _filled(text, values):
    text = re.sub(r"\{\{- if .*?\{\{- end \}\}", "", text, flags=re.DOTALL)
    return yaml.safe_load(re.sub(r"\{\{ \.(\w+) ?\}\}", lambda placeholder: values[placeholder.group(1)], text))


def _constants(folder):
    """All manifests in the Go sources below a folder."""
    values = collections.defaultdict(lambda: "x", _VALUES)
    for file in sorted(folder.rglob("manifests.go")):
        for text in re.findall(r" = `(.*?)`", file.read_text(), re.DOTALL):
            yield _filled(text, values)


def _operator(module, program, namespace):
    plane = module / "operator" / "pkg" / "controlplane"
    if program == "karmada-controller-manager":
        return _constant(plane / "manifests.go", "KamradaControllerManagerDeployment", namespace)(
            KubeconfigSecret=f"{program}-config")
    deployment = _constant(plane / "search" / "manifests.go", "KarmadaSearchDeployment", namespace)(
        KubeconfigSecret=f"{program}-config")
    # As operator/pkg/controlplane/etcd/util.go (ConfigureClientCredentials) completes it.
    pod, folder = deployment["spec"]["template"]["spec"], "/etc/karmada/pki/etcd-client"
    pod["containers"][0]["command"] += [
        f"--etcd-cafile={folder}/etcd-ca.crt", f"--etcd-certfile={folder}/etcd-client.crt",
        f"--etcd-keyfile={folder}/etcd-client.key",
        f"--etcd-servers=https://karmada-etcd-client.{namespace}.svc.cluster.local:2379"]
    pod["containers"][0]["volumeMounts"].append({"name": "etcd-client-cred", "mountPath": folder, "readOnly": True})
    pod["volumes"].append({"name": "etcd-client-cred", "secret": {"secretName": "karmada-etcd-cert"}})
    return deployment


def _all_of_the_operator(module):
    """The budgets, and what it waits for, are made in Go: operator/pkg/controlplane/controlplane.go gives a budget the labels of
    the pods, and operator/pkg/tasks/init/wait.go waits for pods with the name and the instance."""
    made = list(_constants(module / "operator" / "pkg" / "controlplane"))
    for workload in [each for each in made if "template" in each["spec"]]:
        labels = workload["spec"]["template"]["metadata"]["labels"]
        waited_for = {key: value for key, value in labels.items() if key.startswith("app.kubernetes.io/")}
        for what, selected in (("budget", labels), ("wait", waited_for)):
            made.append({"kind": "PodDisruptionBudget", "metadata": {"name": f"{what} of {workload['metadata']['name']}"},
                         "spec": {"selector": {"matchLabels": selected}}})
    return made


def _karmadactl(module, program, namespace):
    if program == "karmada-search":
        return _constant(module / "pkg" / "karmadactl" / "addons" / "search" / "manifests.go", "karmadaSearchDeployment", namespace)(
            ETCDSevers=f"https://etcd-0.etcd.{namespace}.svc.cluster.local:2379")
    # A Go function lists the words; pkg/karmadactl/cmdinit/kubernetes/deployments.go has the rest.
    source = (module / "pkg" / "karmadactl" / "cmdinit" / "kubernetes" / "command.go").read_text()
    body = re.search(r"defaultKarmadaControllerManagerContainerCommand\(\) \[\]string \{(.*?)\n\}", source, re.DOTALL).group(1)
    words = [word.replace("--kubeconfig=%s", "--kubeconfig=/etc/karmada/config/karmada.config").replace("%s", namespace)
             for word in re.findall(r'"([^"]*)"', body)]
    container = {
        "name": program, "image": "image", "command": words,
        "env": [{"name": "POD_IP", "valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}}}],
        "livenessProbe": {"httpGet": {"path": "/healthz", "port": 10357, "scheme": "HTTP"}},
        "ports": [{"name": "server", "containerPort": 10357}, {"name": "metrics", "containerPort": 8080}],
        "volumeMounts": [{"name": "karmada-config", "mountPath": "/etc/karmada/config", "readOnly": True}]}
    volume = {"name": "karmada-config", "secret": {"secretName": f"{program}-config"}}
    return {"kind": "Deployment", "spec": {"template": {"spec": {"containers": [container], "volumes": [volume]}}}}


def _all_of_karmadactl(module):
    """The pods of `karmadactl init` are made in Go. Each component has its labels in a variable, which its pods, its Service, its
    selector and its anti-affinity have."""
    source = (module / "pkg" / "karmadactl" / "cmdinit" / "kubernetes" / "deployments.go").read_text()
    names = dict(re.findall(r"^\t(\w+) += names\.(\w+)ComponentName$", source, re.MULTILINE))
    made = list(_constants(module / "pkg" / "karmadactl" / "addons"))
    for constant in re.findall(r'^\t\w+Labels += map\[string\]string\{"app": (\w+)', source, re.MULTILINE):
        if constant not in names:
            continue  # Of Kubernetes' own programs.
        name = re.sub("(?<=[a-z])(?=[A-Z])", "-", names[constant]).lower()
        labels, kept_apart = {"app": name}, {"matchExpressions": [{"key": "app", "operator": "In", "values": [name]}]}
        made.append({"kind": "Deployment", "metadata": {"name": name}, "spec": {
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": {"affinity": {"podAntiAffinity": {
                "requiredDuringSchedulingIgnoredDuringExecution": [{"labelSelector": kept_apart}]}}}}}})
    return made
