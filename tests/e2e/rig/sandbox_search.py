"""karmada-search over a sandbox: API servers in memory in the place of a plane."""

import json
import pathlib
import re

import yaml

from . import paths
from .kube import Kube
from .pki import Pki
from .process import Process, free_port, run, wait_until
from .sandbox import Sandbox

SEARCH = paths.BIN / "karmada-search"
PROXY = "/apis/search.karmada.io/v1alpha1/proxying/karmada/proxy"
REGISTRIES = "/apis/search.karmada.io/v1alpha1/resourceregistries"
_RECORDS = paths.ROOT / "config" / "search" / "storage.search.karmada.io_resourceregistryrecords.yaml"
_ALL_SYNCED = re.compile(r"(?:the Cluster is not Ready; )?(\d+) of \1 resources? (?:is|are) synced")
_DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
_CLUSTERS = "/apis/cluster.karmada.io/v1alpha1/clusters"


class SandboxSearch:
    """A sandbox with two members, and a karmada-search that keeps its registries there. Use as a context manager."""

    members = Sandbox.members

    def __init__(self, logs):
        self._logs = pathlib.Path(logs)
        self._sandbox = Sandbox(logs, "search-sandbox", with_manager=False)
        self.folder = self._sandbox.folder
        self._port = free_port()
        self._search = None
        self._kubes = {}

    def __enter__(self):
        try:
            self._start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        if self._search is not None:
            self._search.stop()
        self._sandbox.__exit__()

    # ---- What tests use ---------------------------------------------------------------------------

    def kubeconfig(self, cluster):
        """Of `karmada`, a member, `search` (karmada-search itself) or `proxy` (all members as one cluster)."""
        return self.folder / ("admin" if cluster in ("search", "proxy") else "") / f"{cluster}.kubeconfig"

    def kube(self, cluster):
        """A client of one of those, as its administrator."""
        if cluster not in self._kubes:
            self._kubes[cluster] = Kube(self.kubeconfig(cluster), kubectl=None)
        return self._kubes[cluster]

    def register(self, name, *kinds):
        """Has kinds, as (apiVersion, kind), cached from all members."""
        self.kube("search").create(REGISTRIES, {
            "apiVersion": "search.karmada.io/v1alpha1", "kind": "ResourceRegistry", "metadata": {"name": name},
            "spec": {"targetCluster": {}, "resourceSelectors": [
                {"apiVersion": version, "kind": kind} for version, kind in kinds]}})
        wait_until("all kinds cached", lambda: self._synced(name), 180)

    def _synced(self, name):
        """The Clusters have no condition Ready, which a controller manager would write, so that Synced stays False."""
        conditions = self.kube("search").get(f"{REGISTRIES}/{name}").get("status", {}).get("conditions", [])
        of_members = [c["message"] for c in conditions if "/" in c["type"]]
        return len(of_members) == len(self.members) and all(_ALL_SYNCED.match(message) for message in of_members)

    def member_down(self, member):
        """Takes the API server of a member away; its objects stay."""
        self._steer("member", "down", member)

    def member_up(self, member):
        self._steer("member", "up", member)

    def unjoin(self, member):
        self.kube("karmada").delete(f"{_CLUSTERS}/{member}")
        wait_until(f"{member} gone", lambda: self.kube("karmada").find(f"{_CLUSTERS}/{member}") is None)

    def join(self, member):
        """Joins a member that has left."""
        wait_until(f"{member} joined", lambda: self._steer("member", "join", member))

    def stop_search(self):
        """Returns the exit code."""
        return self._search.stop(35)

    def start_search(self, flags=(), program=(SEARCH,)):
        self._search = Process("karmada-search", [
            *program, f"--kubeconfig={self.folder}/karmada.kubeconfig", "--registry-storage=custom-resources",
            "--bind-address=127.0.0.1", f"--secure-port={self._port}", f"--tls-cert-file={self._pki.crt('search')}",
            f"--tls-private-key-file={self._pki.key('search')}", *flags], self._logs / "karmada-search.log")

        def ready():
            self._search.check_alive()
            self.kube("search").request("GET", "/readyz", timeout=5)
            return True
        wait_until("karmada-search ready", ready, 60)

    # ---- Life -------------------------------------------------------------------------------------

    def _start(self):
        self._sandbox.__enter__()
        self._pki = Pki(self.folder / "admin")
        self._pki.authority("ca")
        self._pki.certificate("admin", "admin", group="system:masters")
        self._pki.certificate("search", "karmada-search", names=["IP:127.0.0.1"])
        url = f"https://127.0.0.1:{self._port}"
        self._pki.kubeconfig(self.kubeconfig("search"), url, "admin")
        self._pki.kubeconfig(self.kubeconfig("proxy"), url + PROXY, "admin")
        self._publish_authority()
        self.kube("karmada").create(_DEFINITIONS, yaml.safe_load(_RECORDS.read_text()))
        self.start_search()

    def _publish_authority(self):
        """What kube-apiserver says about itself: whose certificates count."""
        self.kube("karmada").create("/api/v1/namespaces/kube-system/configmaps", {
            "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "extension-apiserver-authentication"},
            "data": {"client-ca-file": self._pki.crt("ca").read_text(),
                     "requestheader-client-ca-file": self._pki.crt("ca").read_text(),
                     "requestheader-allowed-names": json.dumps(["nobody"]),
                     "requestheader-username-headers": json.dumps(["X-Remote-User"]),
                     "requestheader-group-headers": json.dumps(["X-Remote-Group"]),
                     "requestheader-extra-headers-prefix": json.dumps(["X-Remote-Extra-"])}})

    def _steer(self, *words):
        done = run([paths.SANDBOX, *words], env={"KUBECONFIG": str(self.kubeconfig("karmada"))})
        if done.returncode:
            raise AssertionError(f"{' '.join(words)}: {done.stdout}{done.stderr}")
        return True
