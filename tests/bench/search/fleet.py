"""Our karmada-search with many members and pods, on the sandbox: no Go, no real servers."""

import base64
import time
from concurrent.futures import ThreadPoolExecutor

import yaml

from rig.kube import ApiError, Kube
from rig.pki import Pki
from rig.process import Process, free_port, wait_until
from rig.search import REGISTRIES
from scale.stage import CRDS, Stage

from . import cases, pods
from .load import Load
from .program import Measured
from .real import REGISTRY

_RECORDS = CRDS.parent / "search" / "storage.search.karmada.io_resourceregistryrecords.yaml"
_AUTHENTICATION = {"apiVersion": "v1", "kind": "ConfigMap",
                   "metadata": {"namespace": "kube-system", "name": "extension-apiserver-authentication"}}
REPEATS = cases.Repeats(lists=3, live_lists=2, small=20, gets=1000, changes=0)


class FleetStage:
    """A sandbox, its members' pods, and the authorities of karmada-search. Use as a context manager."""

    def __init__(self, bin_folder, folder, members, total, say):
        self._bin, self._folder, self._total, self._say = bin_folder, folder, total, say
        self._stage = Stage(bin_folder, folder, members)
        self._pki = Pki(folder / "pki")

    def __enter__(self):
        try:
            self._prepare()
        except BaseException:
            self._stage.process.stop()
            raise
        return self

    def __exit__(self, *_):
        self._stage.process.stop()

    def _prepare(self):
        self._make_authorities()
        members, began = self._stage.members, time.monotonic()
        each = self._total // len(members)
        with ThreadPoolExecutor(max_workers=2) as pool:
            list(pool.map(lambda i: self._fill(members[i], range(i * each, (i + 1) * each)), range(len(members))))
        self._say(f"{self._total:,} pods in {len(members)} members of the sandbox after {time.monotonic() - began:.0f} s")

    def _make_authorities(self):
        self._pki.authority("ca")
        self._pki.certificate("server", "server", names=["IP:127.0.0.1"])
        self._pki.certificate("admin", "admin", group="system:masters")
        host, authority = self._stage.host, self._pki.crt("ca").read_text()
        host.create("/api/v1/namespaces/kube-system/configmaps",
                    {**_AUTHENTICATION, "data": {
                        "client-ca-file": authority, "requestheader-client-ca-file": authority,
                        "requestheader-allowed-names": '["front-proxy"]',
                        "requestheader-username-headers": '["X-Remote-User"]',
                        "requestheader-group-headers": '["X-Remote-Group"]',
                        "requestheader-extra-headers-prefix": '["X-Remote-Extra-"]'}})
        host.create("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", yaml.safe_load(_RECORDS.read_text()))

    def _fill(self, member, numbers):
        kube = self._stage.kube(member)
        for group in range(pods.NAMESPACES):
            _create_if_missing(kube, {"metadata": {"name": f"team-{group}"}})
        folder = self._folder / member
        folder.mkdir(exist_ok=True)
        pods.fill_sandbox(_load_of(self._bin, kube, folder), folder, numbers, "elsewhere")

    def measure(self):
        port, log = free_port(), self._folder / "karmada-search.log"
        log.unlink(missing_ok=True)
        began = time.monotonic()
        process = Process("karmada-search", [
            self._bin / "karmada-search", f"--kubeconfig={self._folder}/karmada.kubeconfig",
            "--registry-storage=custom-resources", "--bind-address=127.0.0.1", f"--secure-port={port}",
            f"--tls-cert-file={self._pki.crt('server')}", f"--tls-private-key-file={self._pki.key('server')}"], log)
        try:
            return self._measure(process, port, began)
        finally:
            process.stop(60)

    def _measure(self, process, port, began):
        address = f"127.0.0.1:{port}"
        kube = Kube(self._pki.kubeconfig(self._folder / "search.kubeconfig", f"https://{address}", "admin"), None)
        subject = cases.Subject(Measured(process), Load(self._bin / "search_load", address, self._pki.crt("admin"),
                                                        self._pki.key("admin")), kube)
        wait_until("the registries", lambda: process.check_alive() or kube.request("GET", REGISTRIES), 60, every=0.05)
        kube.create(REGISTRIES, REGISTRY)
        cases.wait_synced(subject, self._total // pods.NAMESPACES, 120)
        out = {"start": time.monotonic() - began, "memory": cases.memory(subject), "start_cpu": subject.measured.cpu()}
        self._say(f"synced after {out['start']:.1f} s, {out['memory']['rss'] / 1e6:.0f} MB")
        out["lists"] = cases.lists(subject, REPEATS)
        return out


def _create_if_missing(kube, namespace):
    try:
        kube.create("/api/v1/namespaces", namespace)
    except ApiError as error:
        if error.code != 409:
            raise


def _load_of(bin_folder, kube, folder):
    """The load client with the certificate of a kubeconfig, which it wants in files."""
    user = yaml.safe_load(kube.kubeconfig.read_text())["users"][0]["user"]
    for name in ("certificate", "key"):
        (folder / f"client.{name}").write_bytes(base64.b64decode(user[f"client-{name}-data"]))
    return Load(bin_folder / "search_load", kube.server.removeprefix("https://"), folder / "client.certificate",
                folder / "client.key")
