"""A member cluster that has no objects, and takes or answers no writes."""

import base64
import contextlib
import json
import socketserver
import threading
import urllib.parse

from rig.process import wait_until

_NAME = "deaf"
_CLUSTERS = "/apis/cluster.karmada.io/v1alpha1/clusters"
_SECRETS = "/api/v1/namespaces/karmada-cluster/secrets"
PROXY = f"/apis/search.karmada.io/v1alpha1/proxying/{_NAME}/proxy"


class _Handler(socketserver.StreamRequestHandler):
    """Answers lists and other reads, holds watches, and reads nothing but the head of a write."""

    def handle(self):
        with contextlib.suppress(OSError):
            while self._answer():
                pass

    def _answer(self):
        line = self.rfile.readline().decode()
        if not line:
            return False
        while self.rfile.readline().strip():
            pass
        method, target, _ = line.split(" ", 2)
        url = urllib.parse.urlparse(target)
        if method != "GET" or "watch=" in url.query or self.server.silent.is_set():
            self.server.over.wait()
            return False
        body = json.dumps(_document(url.path)).encode()
        self.wfile.write(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n" % len(body) + body)
        return True


def _document(path):
    if path == "/version":
        return {"major": "1", "minor": "35", "gitVersion": "v1.35.0"}
    return {"kind": "PodList", "apiVersion": "v1", "metadata": {"resourceVersion": "1"}, "items": []}


class _Server(socketserver.ThreadingTCPServer):
    daemon_threads, allow_reuse_address, request_queue_size = True, True, 1000

    def __init__(self):
        super().__init__(("127.0.0.1", 0), _Handler)
        self.over = threading.Event()
        self.silent = threading.Event()


@contextlib.contextmanager
def deaf_member(attacked):
    """Joins the member, and has it leave at the end. Once its `silent` is set, it answers no reads either."""
    kube, token = attacked.member("karmada"), base64.b64encode(b"none").decode()
    with _Server() as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        secrets = (_NAME, f"{_NAME}-impersonator")
        try:
            for name in secrets:
                kube.create(_SECRETS, {"metadata": {"name": name}, "data": {"token": token}})
            kube.create(_CLUSTERS, {
                "apiVersion": "cluster.karmada.io/v1alpha1", "kind": "Cluster", "metadata": {"name": _NAME},
                "spec": {"syncMode": "Push", "apiEndpoint": f"http://127.0.0.1:{server.server_address[1]}",
                         **{ref: {"namespace": "karmada-cluster", "name": name}
                            for ref, name in zip(("secretRef", "impersonatorSecretRef"), secrets)}}})
            wait_until("the deaf member cached", lambda: _is_cached(attacked), 30)
            yield server
        finally:
            server.over.set()
            kube.delete(f"{_CLUSTERS}/{_NAME}")
            for name in secrets:
                kube.delete(f"{_SECRETS}/{name}")
            server.shutdown()


def _is_cached(attacked):
    return any(line.startswith("karmada_search_cache_synced{") and f'"{_NAME}"' in line and line.endswith(" 1")
               for line in attacked.admin.request("GET", "/metrics").splitlines())
