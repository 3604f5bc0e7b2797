"""Searches in an OpenSearch that does not answer."""

import contextlib
import http.server
import json
import threading

from rig.process import wait_until
from rig.sandbox_search import REGISTRIES

from .attack import attack
from .bodies import send
from .shares import another_user, held
from .site import VIEW

_SEARCH = VIEW.replace("/cache", "/opensearch") + "/api/v1/secrets"
_REQUEST = f"GET {_SEARCH} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n".encode()


class _Handler(http.server.BaseHTTPRequestHandler):
    """An OpenSearch without any index, which answers no search once it is silent."""

    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        """Nothing is logged."""

    def _serve(self):
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if "_search" in self.path and self.server.silent.is_set():
            self.server.over.wait()
            self.close_connection = True
            return
        code, answer = 404, {"error": {"type": "index_not_found_exception", "reason": "no such index"}, "status": 404}
        if self.path == "/":
            code, answer = 200, {"cluster_uuid": "hostile", "version": {"distribution": "opensearch", "number": "2.19.1"}}
        elif self.command == "PUT" and "_index_template" in self.path:
            code, answer = 200, {"acknowledged": True}
        body = json.dumps(answer).encode()
        self.send_response(code)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    do_GET = do_POST = do_PUT = do_DELETE = do_HEAD = _serve


@contextlib.contextmanager
def _opensearch(attacked):
    """Has Secrets, of which there are none, mirrored in one; yields the event that makes it silent."""
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Handler) as server:
        server.silent, server.over = threading.Event(), threading.Event()
        threading.Thread(target=server.serve_forever, daemon=True).start()
        attacked.admin.create(REGISTRIES, {
            "apiVersion": "search.karmada.io/v1alpha1", "kind": "ResourceRegistry", "metadata": {"name": "mirrored"},
            "spec": {"targetCluster": {}, "resourceSelectors": [{"apiVersion": "v1", "kind": "Secret"}],
                     "backendStore": {"openSearch": {"addresses": [f"http://127.0.0.1:{server.server_address[1]}"]}}}})
        try:
            wait_until("a search", lambda: send(attacked, _REQUEST) == 200, 60)
            yield server.silent
        finally:
            server.over.set()
            attacked.admin.delete(f"{REGISTRIES}/mirrored")
            server.shutdown()


@attack("searches by one user", sizes={"short": 250, "long": 250}, flags=("--max-requests-inflight=0",),
        at_most={"growth MB": 60, "bystander failed": 0, "others refused": 0})
def searches(attacked, count):
    """So many searches of one user in an OpenSearch that does not answer, where 16 are worked at and 64 wait; somebody else
    searches once."""
    with _opensearch(attacked) as silent:
        silent.set()
        with held(attacked, another_user(attacked), _REQUEST, count):
            code = send(attacked, _REQUEST)
            return {"others refused": int(code in (0, 429)), "code of others": code}
