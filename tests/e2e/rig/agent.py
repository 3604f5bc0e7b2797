"""A cluster in Pull mode: servers like a member's, registered by the real `karmadactl register`, and an agent.

The Deployment that karmadactl writes has pods of kwok's, which do nothing; start() runs what they would run: the command of
the Deployment in the file system of an image, with its Secret and its service account.
"""

import base64
import contextlib
import json

import yaml

from . import metrics, paths
from .pod import Pod, ServiceAccount
from .process import must, wait_until

_REQUESTS = "/apis/certificates.k8s.io/v1/certificatesigningrequests"
_CLUSTERS = "/apis/cluster.karmada.io/v1alpha1/clusters"
_RBAC = "rbac.authorization.k8s.io"
_NAMESPACE = "karmada-system"
_DEPLOYMENT = f"/apis/apps/v1/namespaces/{_NAMESPACE}/deployments/karmada-agent"
_LEASES = f"/apis/coordination.k8s.io/v1/namespaces/{_NAMESPACE}/leases"
_EVERYTHING = [{"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]}, {"nonResourceURLs": ["*"], "verbs": ["get"]}]
_KINDS = ("deployments.apps", "services", "serviceexports.multicluster.x-k8s.io")  # That cases propagate to such clusters.
_METRICS_PORT = 8080  # As karmadactl has it on the command line.


class PullCluster:
    """Starts the cluster's servers at once; register() and start() do the rest; close() takes all of it away again."""

    def __init__(self, plane, name):
        self.plane, self.name = plane, name
        self.pod = None
        self.kube = plane.add_cluster(name)
        self.user = f"system:karmada:agent:{name}"
        self.account = f"system:serviceaccount:{_NAMESPACE}:karmada-agent-sa"  # The agent's in its own cluster.
        self._lease = f"{_LEASES}/karmada-agent-{name}"

    def register(self):
        """Types the command that `karmadactl token create` prints; a controller manager has to run, which approves the
        certificate requests."""
        self.plane.host.apply(_what_init_makes(self.plane.host))
        host = ["--kubeconfig", self.plane.host.kubeconfig]
        printed = self._karmadactl("token", "create", "--print-register-command", *host).split()
        words = printed[printed.index("register"):]
        answer = self._karmadactl(*words, "--cluster-name", self.name, "--kubeconfig", self.kube.kubeconfig)
        if "is joined successfully" not in answer:  # Whatever is wrong, it ends with 0.
            raise AssertionError(f"karmadactl register: {answer}")

    def approvals(self):
        """The reasons for which the agent's certificate requests were approved."""
        return [condition["reason"] for request in self.plane.host.items(_REQUESTS)
                if request["metadata"]["name"].startswith(f"{self.name}-")
                for condition in request.get("status", {}).get("conditions", []) if condition["type"] == "Approved"]

    def start(self, program):
        """Runs this program as the Deployment says, and waits until it leads, and a kubelet would let it live if it asks."""
        self._give_rights(program)
        spec = self.kube.get(_DEPLOYMENT)["spec"]["template"]["spec"]
        names = [volume["secret"]["secretName"] for volume in spec["volumes"]]
        self.pod = Pod(self.plane, f"{self.name}-agent", spec, program, {name: self._secret(name) for name in names},
                       account=ServiceAccount(self.kube, _NAMESPACE, spec["serviceAccountName"]))

        def leads():
            self.pod.process.check_alive()
            return (self.plane.host.find(self._lease) or {}).get("spec", {}).get("holderIdentity")
        wait_until(f"the agent of {self.name} to lead", leads, 60)
        probe = spec["containers"][0].get("livenessProbe")
        if probe:
            self.pod.wait("livenessProbe", _patience(probe))

    def stop(self):
        """Ends the agent; the cluster's servers go on. Whoever comes next need not wait until its lease has run out."""
        code = self.pod.stop()
        self.plane.host.delete(self._lease)
        return code

    def samples(self):
        """The metrics of the agent."""
        return metrics.scrape(_METRICS_PORT)

    def ready(self):
        """The status of the Cluster's condition Ready, or None."""
        cluster = self.plane.host.find(f"{_CLUSTERS}/{self.name}") or {}
        return next((c["status"] for c in cluster.get("status", {}).get("conditions", [])
                     if c["type"] == "Ready"), None)

    def unregister(self):
        """Takes the cluster out of the control plane; agent and controller manager have to run."""
        self._karmadactl("unregister", self.name, "--cluster-kubeconfig", self.kube.kubeconfig,
                         "--karmada-config", self.plane.host.kubeconfig)

    def close(self):
        """Ends everything that belongs to the cluster, whatever state it is in."""
        if self.plane.host.find(f"{_CLUSTERS}/{self.name}") is not None:
            with contextlib.suppress(AssertionError, OSError):
                self.unregister()
        self.plane.remove_cluster(self.name)

    def _give_rights(self, program):
        """Ours has in its cluster what it says that it needs, upstream's what karmadactl gives."""
        rules = _EVERYTHING
        if program == ours():
            printed = must([program, "permissions", f"--cluster-name={self.name}", f"--template-kinds={','.join(_KINDS)}"])
            rules = next(yaml.safe_load_all(printed))["rules"]
        self.kube.merge(f"/apis/{_RBAC}/v1/clusterroles/karmada-agent", {"rules": rules})

    def _secret(self, name):
        data = self.kube.get(f"/api/v1/namespaces/{_NAMESPACE}/secrets/{name}")["data"]
        return {key: base64.b64decode(value).decode() for key, value in data.items()}

    def _karmadactl(self, *words):
        return must([self.plane.testbed.exe("karmadactl"), *words], timeout=180)


def ours():
    """Our agent."""
    return paths.AGENT


def upstreams(testbed):
    """Upstream's agent."""
    return testbed.folder / "bin" / "karmada-agent"


def _patience(probe):
    """After how many seconds a kubelet ends a container whose probe has never succeeded."""
    return probe.get("initialDelaySeconds", 0) + probe.get("periodSeconds", 10) * probe.get("failureThreshold", 3)


def _what_init_makes(host):
    """What `karmadactl init` makes for clusters that register: who asks with a token finds the control plane, may ask for a
    certificate, and has it approved."""
    bootstrappers, agents = "system:bootstrappers:karmada:default-cluster-token", "system:karmada:agents"
    requests, everything = "certificates.k8s.io", [{"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]}]
    approver = "system:karmada:certificatesigningrequest:{}autoapprover"

    def approves(prefix, group, name):
        rules = [{"apiGroups": [requests], "resources": [f"certificatesigningrequests/{prefix}clusteragent"],
                  "verbs": ["create"]}]
        return [_role(approver.format(prefix), rules), _binding(name, "Group", group, approver.format(prefix))]
    signer, public = "system:karmada:bootstrap-signer-clusterinfo", "kube-public"
    generator = "system:karmada:agent-rbac-generator"
    info = {"apiVersion": "v1", "kind": "Config", "clusters": [{"name": "", "cluster": {
        "server": host.server, "certificate-authority-data": base64.b64encode(host.authority().encode()).decode()}}]}
    return [
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"namespace": public, "name": "cluster-info"},
         "data": {"kubeconfig": json.dumps(info)}},
        _role(signer, [{"apiGroups": [""], "resources": ["configmaps"], "resourceNames": ["cluster-info"],
                        "verbs": ["get"]}], public),
        _binding(signer, "User", "system:anonymous", signer, public),
        _role(generator, everything), _binding(generator, "User", "system:karmada:agent:rbac-generator", generator),
        _binding("system:karmada:agent-bootstrap", "Group", bootstrappers, "system:node-bootstrapper"),
        *approves("", bootstrappers, "system:karmada:agent-autoapprove-bootstrap"),
        *approves("self", agents, "system:karmada:agent-autoapprove-certificate-rotation")]


def _role(name, rules, namespace=None):
    return {"apiVersion": f"{_RBAC}/v1", "kind": "Role" if namespace else "ClusterRole",
            "metadata": _named(name, namespace), "rules": rules}


def _binding(name, kind, subject, role, namespace=None):
    prefix = "" if namespace else "Cluster"
    return {"apiVersion": f"{_RBAC}/v1", "kind": f"{prefix}RoleBinding", "metadata": _named(name, namespace),
            "roleRef": {"apiGroup": _RBAC, "kind": f"{prefix}Role", "name": role},
            "subjects": [{"apiGroup": _RBAC, "kind": kind, "name": subject}]}


def _named(name, namespace):
    return {"name": name, **({"namespace": namespace} if namespace else {})}
