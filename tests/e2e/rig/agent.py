"""A cluster in Pull mode: servers like a member's, and the real karmada-agent, registered by a certificate request."""

import base64
import contextlib

from .kube import Kube
from .process import free_port, wait_until

_REQUESTS = "/apis/certificates.k8s.io/v1/certificatesigningrequests"
_CLUSTERS = "/apis/cluster.karmada.io/v1alpha1/clusters"
_RBAC = "rbac.authorization.k8s.io"
_GROUP = "system:karmada:agents"
_BOOTSTRAPPER = "e2e-bootstrapper"


class PullCluster:
    """Starts the cluster's servers at once and its agent with register(); close() takes all of it away again."""

    def __init__(self, plane, name):
        self.plane, self.name = plane, name
        self.agent = None
        self.kube = plane.add_cluster(name)
        self.user = f"system:karmada:agent:{name}"
        self._kubeconfig = plane.folder / f"{name}-agent.kubeconfig"

    def register(self):
        """What `karmadactl register` does: a certificate for the agent, by a request that the controller manager
        approves, its rights in the control plane, and the agent."""
        host = self.plane.host
        host.apply(self._rights())
        bootstrapper = Kube(self.plane.user("bootstrapper", _BOOTSTRAPPER, group=None),
                            self.plane.testbed.exe("kubectl"))
        pki = self.plane.pki
        request = pki.request(f"{self.name}-agent", self.user, _GROUP)
        # RBAC takes a moment to know the new rights.
        wait_until("the certificate request", lambda: bootstrapper.create(_REQUESTS, {
            "metadata": {"name": f"{self.name}-agent"},
            "spec": {"signerName": "kubernetes.io/kube-apiserver-client", "request": pki.base64(request),
                     "usages": ["digital signature", "key encipherment", "client auth"]}}), 10)
        certificate = wait_until("the agent's certificate", self.certificate, 30)
        pki.crt(f"{self.name}-agent").write_bytes(base64.b64decode(certificate))
        pki.kubeconfig(self._kubeconfig, host.server, f"{self.name}-agent")
        self.start()

    def approval(self):
        """The reason of the approval of the agent's certificate request, or None."""
        found = self.plane.host.find(f"{_REQUESTS}/{self.name}-agent") or {}
        return next((c["reason"] for c in found.get("status", {}).get("conditions", [])
                     if c["type"] == "Approved"), None)

    def certificate(self):
        """The agent's certificate, or None before it is issued."""
        found = self.plane.host.find(f"{_REQUESTS}/{self.name}-agent") or {}
        return found.get("status", {}).get("certificate")

    def start(self):
        """Starts the agent, again after stop()."""
        self.agent = self.plane.start(f"{self.name}-agent", [
            self.plane.testbed.exe("karmada-agent"), f"--karmada-kubeconfig={self._kubeconfig}",
            f"--cluster-name={self.name}", f"--cluster-api-endpoint={self.kube.server}", "--leader-elect=false",
            "--cluster-status-update-frequency=5s", "--cluster-success-threshold=1s", "--metrics-bind-address=0",
            f"--health-probe-bind-address=127.0.0.1:{free_port()}"],
            env={"KUBECONFIG": str(self.plane.kubeconfigs[self.name])})

    def stop(self):
        """Ends the agent; the cluster's servers go on."""
        self.agent.stop()

    def ready(self):
        """The status of the Cluster's condition Ready, or None."""
        cluster = self.plane.host.find(f"{_CLUSTERS}/{self.name}") or {}
        return next((c["status"] for c in cluster.get("status", {}).get("conditions", [])
                     if c["type"] == "Ready"), None)

    def leave(self):
        """Takes the Cluster out of the control plane; agent and controller manager have to run."""
        self.plane.host.delete(f"{_CLUSTERS}/{self.name}")
        wait_until(f"{self.name} has left", lambda: self.plane.host.find(f"{_CLUSTERS}/{self.name}") is None, 90)

    def close(self):
        """Ends everything that belongs to the cluster, whatever state it is in."""
        with contextlib.suppress(AssertionError, OSError):
            self.leave()
        self.plane.remove_cluster(self.name)
        for secret in (self.name, f"{self.name}-impersonator"):
            self.plane.host.delete(f"/api/v1/namespaces/karmada-cluster/secrets/{secret}")
        self.plane.host.delete(f"{_REQUESTS}/{self.name}-agent")

    def _rights(self):
        """Those of karmadactl register for the agent, and of karmadactl init for who registers it."""
        read = ["get", "list", "watch"]
        return [
            *_role("e2e-agent-bootstrap", _BOOTSTRAPPER, None, [
                _rule("certificates.k8s.io", ["certificatesigningrequests"], ["create", "get"]),
                _rule("certificates.k8s.io", ["certificatesigningrequests/clusteragent"], ["create"])]),
            *_role(f"e2e-{self.name}", self.user, None, [
                _rule("cluster.karmada.io", ["clusters"], [*read, "create", "delete"]),
                _rule("cluster.karmada.io", ["clusters/status"], ["update"]),
                _rule("config.karmada.io", ["*"], read),
                _rule("", ["namespaces"], ["get"]), _rule("", ["services"], ["list", "watch"]),
                _rule("", ["events"], ["create", "patch", "update"]),
                _rule("coordination.k8s.io", ["leases"], ["get", "create", "update"]),
                _rule("certificates.k8s.io", ["certificatesigningrequests"], ["get", "create"]),
                # A role in the execution namespace would go with it, before the agent has let go of its Works.
                _rule("work.karmada.io", ["works"], [*read, "create", "update", "delete"]),
                _rule("work.karmada.io", ["works/status"], ["patch", "update"])]),
            *_role(f"e2e-{self.name}", self.user, "karmada-cluster", [
                _rule("", ["secrets"], ["get", "create", "patch"])])]


def _rule(group, resources, verbs):
    return {"apiGroups": [group], "resources": resources, "verbs": verbs}


def _role(name, user, namespace, rules):
    """A role and its binding to a user, in a namespace or everywhere."""
    prefix, place = ("", {"namespace": namespace}) if namespace else ("Cluster", {})
    metadata = {"name": name, **place}
    return [
        {"apiVersion": f"{_RBAC}/v1", "kind": f"{prefix}Role", "metadata": metadata, "rules": rules},
        {"apiVersion": f"{_RBAC}/v1", "kind": f"{prefix}RoleBinding", "metadata": metadata,
         "roleRef": {"apiGroup": _RBAC, "kind": f"{prefix}Role", "name": name},
         "subjects": [{"apiGroup": _RBAC, "kind": "User", "name": user}]}]
