"""A real Karmada control plane and its member clusters, as processes on loopback, without containers."""

import itertools
import json
import pathlib
import re
import shutil
import socket
import time
import urllib.request
from concurrent.futures import ThreadPoolExecutor

from . import manifests, rights
from .kube import Kube
from .pki import Pki
from .process import Process, free_port, must, wait_until

HOST = "host"
# As in Karmada's installation: templates in the control plane are inert, no workload controller runs.
_HOST_CONTROLLERS = ("namespace,garbagecollector,serviceaccount-token,ttl-after-finished,bootstrapsigner,tokencleaner,"
                     "clusterrole-aggregation,csrsigning,csrapproving")
_MEMBER_CONTROLLERS = "*,-nodeipam,-bootstrapsigner,-tokencleaner"
_CLUSTERS = "/apis/cluster.karmada.io/v1alpha1/clusters"
_SECRETS = "/api/v1/namespaces/karmada-cluster/secrets"


class Plane:
    """Use as a context manager: entering starts everything and joins the members, leaving stops it.

    Everything is below `folder`: certificates in pki/, one log per process in logs/, plane.json for other
    programs. Logs stay when the plane is gone; the databases do not.

    All servers are those of `testbed`, except where `karmada` names another one for Karmada's servers and definitions,
    and `kubernetes` for the Kubernetes servers of some clusters: {cluster: Testbed}.
    """

    def __init__(self, folder, testbed, members=2, nodes_per_member=3, karmada=None, kubernetes=None):
        self.folder = pathlib.Path(folder)
        self.logs = self.folder / "logs"
        self.testbed = testbed
        self._karmada, self._kubernetes = karmada or testbed, kubernetes or {}
        self.members = [f"member{i + 1}" for i in range(members)]
        self.kubeconfigs = {}
        self.pki = None
        self._nodes = nodes_per_member
        self.processes = []
        self._apiservers = {}
        self._kubes = {}
        self._away = set()  # Members whose join or unjoin has not succeeded, or that have left.
        self._pod_networks = itertools.count(1)  # So that no two clusters give their pods the same addresses.
        self._etcd_port = free_port()
        self._webhook_port = free_port()

    # ---- What tests use ---------------------------------------------------------------------------

    @property
    def host(self):
        """The control plane's API server."""
        return self.kube(HOST)

    def kube(self, cluster):
        """The API server of the host or of a member, as its administrator."""
        if cluster not in self._kubes:
            self._kubes[cluster] = Kube(self.kubeconfigs[cluster], self.testbed.exe("kubectl"))
        return self._kubes[cluster]

    def versions(self):
        """What its running servers report to be: {cluster: version of Kubernetes}, and that of "karmada"."""
        scheduler = next(p for p in self.processes if p.name == "karmada-scheduler")
        return {"karmada": re.search(r'GitVersion:"([^"]+)"', must([scheduler.command[0], "version"])).group(1),
                **{name: self.kube(name).get("/version")["gitVersion"] for name in [HOST, *self.members]}}

    def audit_log(self, cluster=HOST):
        """The file in which a cluster's API server records every write."""
        return self.logs / ("audit.log" if cluster == HOST else f"{cluster}-audit.log")

    def start(self, name, command, env=None):
        """Starts a process that ends with the plane at the latest."""
        process = Process(name, command, self.logs / f"{name}.log", env)
        self.processes.append(process)
        return process

    def user(self, name, common_name, group="system:masters"):
        """The kubeconfig of a further user of the host, an administrator unless the group is another or None; the
        audit log knows it by its name."""
        self.pki.certificate(name, common_name, group=group)
        server = self.host.server
        return self.pki.kubeconfig(self.folder / f"{name}.kubeconfig", server, name)

    def apiserver(self, cluster):
        """The process that is a cluster's API server now."""
        return self._apiservers[cluster][0]

    def stop_apiserver(self, cluster):
        """Takes an API server away; its data stay."""
        self.apiserver(cluster).stop()

    def start_apiserver(self, cluster):
        """Brings a stopped API server back at the same address."""
        process, command = self._apiservers[cluster]
        self._apiservers[cluster] = (self.start(process.name, command), command)
        self.kube(cluster).wait_ready()

    def add_apiserver(self, name):
        """One more empty API server on the same etcd, apart from the control plane. Returns its client."""
        self._start_apiserver(name)
        self.kube(name).wait_ready()
        return self.kube(name)

    def add_cluster(self, name):
        """One more cluster with nodes, apart from the control plane. Returns its client."""
        kube = self.add_apiserver(name)
        self._start_controller_manager(name)
        self._start_nodes(name)
        return kube

    def remove_cluster(self, name):
        """Ends the processes of such a cluster, whose names begin with its own."""
        gone = [p for p in self.processes if p.name.startswith(f"{name}-")]
        for process in sorted(gone, key=lambda p: p.name.endswith("-apiserver")):
            process.stop(timeout=5)
            self.processes.remove(process)
        self._kubes.pop(name)

    def join(self, member):
        """Makes a member known to the control plane, as its operator does."""
        self._away.add(member)
        # What an unjoin has deleted there may take a while to be gone.
        path = "/api/v1/namespaces/karmada-cluster"
        wait_until(f"{path} in {member} is not being deleted",
                   lambda: "deletionTimestamp" not in (self.kube(member).find(path) or {"metadata": {}})["metadata"], 90)
        self._karmadactl("join", member)
        rights.give_to_account(self, member)
        self._away.discard(member)

    def unjoin(self, member):
        """Takes a member out of the control plane; a controller manager has to run."""
        self._away.add(member)
        self._karmadactl("unjoin", member, f"--cluster-context={self.kube(member).context}")
        # If the garbage collector were late with these, the next join would keep their tokens.
        for secret in (member, f"{member}-impersonator"):
            self.host.delete(f"{_SECRETS}/{secret}")

    def rejoin(self):
        """Brings back the members that are out, or half out because an unjoin or a join failed; a controller manager has
        to run."""
        away = sorted(self._away)
        for member in away:
            if self.host.find(f"{_CLUSTERS}/{member}") is not None:
                self.unjoin(member)
            self.join(member)
        if away:
            self.wait_members_ready()

    def _karmadactl(self, verb, member, *flags):
        must([self.testbed.exe("karmadactl"), "--kubeconfig", self.kubeconfigs[HOST], verb, member,
              "--cluster-kubeconfig", self.kubeconfigs[member], *flags], timeout=120)

    def containers_print(self, member, text):
        """A line more in the log of all containers of a member."""
        with self._container_log(member).open("a") as log:
            log.write(manifests.CONTAINER_LOG.format(text=text))

    def _container_log(self, member):
        return self.folder / f"{member}-container.log"

    def wait_members_ready(self, timeout=60):
        def all_ready():
            conditions = {c["metadata"]["name"]: c.get("status", {}).get("conditions", [])
                          for c in self.host.items(_CLUSTERS)}
            not_ready = [m for m in self.members if not any(
                c["type"] == "Ready" and c["status"] == "True" for c in conditions.get(m, []))]
            assert not not_ready, f"not ready: {not_ready}"
            return True
        wait_until("all members ready", all_ready, timeout)

    # ---- Life -------------------------------------------------------------------------------------

    def __enter__(self):
        try:
            self._up()
        except BaseException:
            self.down()
            raise
        return self

    def __exit__(self, *_):
        self.down()

    def _up(self):
        began = time.monotonic()
        shutil.rmtree(self.folder, ignore_errors=True)
        self.logs.mkdir(parents=True)
        self._make_certificates()
        self._start_etcd()
        for name in [HOST, *self.members]:
            self._start_apiserver(name)
        for name in [HOST, *self.members]:
            self._wait(lambda name=name: self.kube(name).wait_ready())
            self._start_controller_manager(name)
        for name in self.members:
            self._start_nodes(name)
        self._install_karmada()
        self._write_description()
        self._join_members()
        print(f"rig: control plane and {len(self.members)} members up in {time.monotonic() - began:.0f} s",
              flush=True)

    def down(self):
        """Stops everything: clients first, then API servers, etcd last."""
        def rank(process):
            return 2 if process.name == "etcd" else 1 if process.name.endswith("-apiserver") else 0
        for level in (0, 1, 2):
            level_processes = [p for p in self.processes if rank(p) == level]
            for process in level_processes:
                process.resume()
                process.signal(15)
            for process in level_processes:
                process.stop(timeout=5)
        self.processes.clear()
        shutil.rmtree(self.folder / "etcd", ignore_errors=True)

    def _wait(self, action):
        """Runs a waiting action; if it fails because a process died, says which and why."""
        try:
            return action()
        except AssertionError:
            for process in self.processes:
                process.check_alive()
            raise

    # ---- Kubernetes -------------------------------------------------------------------------------

    def _kubernetes_of(self, cluster):
        return self._kubernetes.get(cluster, self.testbed)

    def _make_certificates(self):
        self.pki = pki = Pki(self.folder / "pki")
        pki.authority("ca")
        pki.authority("front-proxy-ca")
        pki.certificate("server", "server", names=[
            "IP:127.0.0.1", "DNS:localhost", "DNS:kubernetes.default.svc",
            "DNS:karmada-webhook.karmada-system.svc", "DNS:karmada-aggregated-apiserver.karmada-system.svc"])
        pki.certificate("admin", "admin", group="system:masters")
        pki.certificate("front-proxy", "front-proxy-client", authority="front-proxy-ca")
        pki.service_account_key()
        shutil.copy(pki.crt("server"), pki.folder / "tls.crt")  # The names the webhook looks for.
        shutil.copy(pki.key("server"), pki.folder / "tls.key")

    def _start_etcd(self):
        url, peer = f"http://127.0.0.1:{self._etcd_port}", f"http://127.0.0.1:{free_port()}"
        self.start("etcd", [
            self.testbed.exe("etcd"), f"--data-dir={self.folder}/etcd", f"--listen-client-urls={url}",
            f"--advertise-client-urls={url}", f"--listen-peer-urls={peer}",
            f"--initial-advertise-peer-urls={peer}", f"--initial-cluster=default={peer}",
            "--unsafe-no-fsync", "--quota-backend-bytes=8000000000", "--log-level=warn"])
        self._wait(lambda: wait_until("etcd", lambda: _http_ok(f"{url}/health"), 30))

    def _start_apiserver(self, name):
        port, pki = free_port(), self.pki.folder
        testbed = self._kubernetes_of(name)
        command = [
            testbed.exe("kube-apiserver"),
            f"--etcd-servers=http://127.0.0.1:{self._etcd_port}", f"--etcd-prefix=/{name}",
            f"--secure-port={port}", "--bind-address=127.0.0.1", "--advertise-address=127.0.0.1",
            "--endpoint-reconciler-type=none", "--allow-privileged=true", "--authorization-mode=RBAC",
            "--disable-admission-plugins=StorageObjectInUseProtection,ServiceAccount",
            f"--tls-cert-file={pki}/server.crt", f"--tls-private-key-file={pki}/server.key",
            f"--client-ca-file={pki}/ca.crt", "--service-cluster-ip-range=10.96.0.0/16",
            "--enable-bootstrap-token-auth=true",
            "--service-account-issuer=https://kubernetes.default.svc.cluster.local",
            f"--service-account-key-file={pki}/sa.pub", f"--service-account-signing-key-file={pki}/sa.key",
            f"--proxy-client-cert-file={pki}/front-proxy.crt", f"--proxy-client-key-file={pki}/front-proxy.key",
            f"--requestheader-client-ca-file={pki}/front-proxy-ca.crt",
            "--requestheader-allowed-names=front-proxy-client",
            "--requestheader-extra-headers-prefix=X-Remote-Extra-",
            "--requestheader-group-headers=X-Remote-Group", "--requestheader-username-headers=X-Remote-User",
            *(["--requestheader-uid-headers=X-Remote-Uid"] if testbed.kubernetes_minor() >= 33 else []),
            "--max-requests-inflight=2000", "--max-mutating-requests-inflight=1000"]
        policy = self.folder / "audit-policy.yaml"
        policy.write_text(manifests.AUDIT_POLICY.format(
            users=json.dumps([*rights.USERS, *map(rights.account, self.members)])))
        command += [f"--audit-policy-file={policy}", f"--audit-log-path={self.audit_log(name)}",
                    "--audit-log-maxsize=100000"]  # MB, so that nothing is rotated away from who reads it.
        self._apiservers[name] = (self.start(f"{name}-apiserver", command), command)
        self.kubeconfigs[name] = self.pki.kubeconfig(
            self.folder / f"{name}.kubeconfig", f"https://127.0.0.1:{port}", "admin")

    def _start_controller_manager(self, name):
        pki = self.pki.folder
        self.start(f"{name}-kube-controller-manager", [
            self._kubernetes_of(name).exe("kube-controller-manager"), f"--kubeconfig={self.kubeconfigs[name]}",
            "--leader-elect=false", f"--controllers={_HOST_CONTROLLERS if name == HOST else _MEMBER_CONTROLLERS}",
            f"--root-ca-file={pki}/ca.crt", f"--service-account-private-key-file={pki}/sa.key",
            f"--cluster-signing-cert-file={pki}/ca.crt", f"--cluster-signing-key-file={pki}/ca.key",
            "--bind-address=127.0.0.1", f"--secure-port={free_port()}",
            "--kube-api-qps=200", "--kube-api-burst=400"])

    def _start_nodes(self, name):
        """A scheduler, nodes that exist on paper, and kwok to play their kubelets."""
        stages, logs, port = self.folder / f"{name}-kwok.yaml", self._container_log(name), free_port()
        self.containers_print(name, f"a container in {name}")
        stages.write_text(manifests.KWOK_STAGES + manifests.KWOK_CONTAINERS.format(logs=logs, cluster=name))
        self.kube(name).apply(list(manifests.nodes(name, self._nodes)))
        self.start(f"{name}-scheduler", [
            self._kubernetes_of(name).exe("kube-scheduler"), f"--kubeconfig={self.kubeconfigs[name]}", "--leader-elect=false",
            "--bind-address=127.0.0.1", f"--secure-port={free_port()}"])
        self.start(f"{name}-kwok", [
            self.testbed.exe("kwok"), f"--kubeconfig={self.kubeconfigs[name]}", "--manage-all-nodes=true",
            "--node-lease-duration-seconds=40", f"--config={stages}", "--node-ip=127.0.0.1", f"--node-port={port}",
            f"--server-address=127.0.0.1:{port}", f"--cidr=10.{next(self._pod_networks)}.0.0/16"])

    # ---- Karmada ----------------------------------------------------------------------------------

    def _install_karmada(self):
        host, aggregated_port = self.host, free_port()
        crds = must([self.testbed.exe("kubectl"), "kustomize", self._karmada.karmada_crds])
        host.kubectl("create", "namespace", "karmada-system")
        host.kubectl("create", "namespace", "karmada-cluster")
        host.apply(self._addressed(crds), "--server-side")
        for member in self.members:
            self.install_multicluster_kinds(member)
        host.apply(manifests.aggregated_api(aggregated_port))
        self._start_aggregated_apiserver(aggregated_port)
        self._start_webhook()
        self._wait(lambda: host.wait_ready(_CLUSTERS))
        self._wait(lambda: wait_until("the webhook", lambda: _port_open(self._webhook_port), 60))
        host.apply(self._addressed(self._karmada.webhook_configuration.read_text()))
        self.start("karmada-scheduler", [
            self._karmada.exe("karmada-scheduler"), f"--kubeconfig={self.kubeconfigs[HOST]}", "--leader-elect=false",
            f"--metrics-bind-address=127.0.0.1:{free_port()}",
            f"--health-probe-bind-address=127.0.0.1:{free_port()}", "--enable-scheduler-estimator=false",
            "--feature-gates=AllAlpha=true,AllBeta=true", "--kube-api-qps=400", "--kube-api-burst=800"])

    def install_multicluster_kinds(self, cluster):
        """ServiceExports and ServiceImports, as the documentation of Services across clusters asks for in members."""
        self.kube(cluster).apply("\n---\n".join(
            file.read_text() for file in sorted(self._karmada.karmada_crds.glob("bases/multicluster/*.yaml"))))

    def _addressed(self, manifest):
        """Karmada's manifest with its placeholders for the webhook's address and authority filled in."""
        url = f"https://localhost:{self._webhook_port}"
        return (manifest.replace("https://karmada-webhook.karmada-system.svc:443", url)
                .replace("https://{{name}}.{{namespace}}.svc:443", url)
                .replace("{{caBundle}}", self.pki.base64(self.pki.crt("ca"))))

    def _start_aggregated_apiserver(self, port):
        kubeconfig, pki = self.kubeconfigs[HOST], self.pki.folder
        self.start("karmada-aggregated", [
            self._karmada.exe("karmada-aggregated-apiserver"), f"--kubeconfig={kubeconfig}",
            f"--authentication-kubeconfig={kubeconfig}", f"--authorization-kubeconfig={kubeconfig}",
            f"--etcd-servers=http://127.0.0.1:{self._etcd_port}", f"--tls-cert-file={pki}/server.crt",
            f"--tls-private-key-file={pki}/server.key", "--bind-address=127.0.0.1", f"--secure-port={port}"])

    def _start_webhook(self):
        self.start("karmada-webhook", [
            self._karmada.exe("karmada-webhook"), f"--kubeconfig={self.kubeconfigs[HOST]}",
            "--bind-address=127.0.0.1", f"--secure-port={self._webhook_port}", f"--cert-dir={self.pki.folder}",
            "--metrics-bind-address=0", f"--health-probe-bind-address=127.0.0.1:{free_port()}",
            "--allow-no-execute-taint-policy=true", "--feature-gates=AllAlpha=true,AllBeta=true"])

    def _join_members(self):
        with ThreadPoolExecutor(max_workers=4) as pool:
            list(pool.map(self.join, self.members))

    def _write_description(self):
        """plane.json: what a program in another language needs to use the plane."""
        (self.folder / "plane.json").write_text(json.dumps({
            "kubeconfigs": {name: str(file) for name, file in self.kubeconfigs.items()},
            "members": self.members,
            "kubectl": self.testbed.exe("kubectl"),
            "daemon": str(rights.give_to_user(self)),
        }, indent=1))


def _http_ok(url):
    with urllib.request.urlopen(url, timeout=2) as answer:
        return answer.status == 200


def _port_open(port):
    with socket.create_connection(("127.0.0.1", port), timeout=2):
        return True
