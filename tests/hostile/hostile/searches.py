"""Searches in an OpenSearch that does not answer, or answers a lot."""

import contextlib
import http.server
import json
import threading

from rig.process import wait_until
from rig.sandbox_search import REGISTRIES

from .attack import attack
from .bodies import send
from .plane import wait
from .shares import another_user, held
from .site import MB, VIEW

_SEARCH = VIEW.replace("/cache", "/opensearch") + "/api/v1/secrets"
_REQUEST = f"GET {_SEARCH} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n".encode()
_ONE = f"GET {_SEARCH}?limit=1 HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n".encode()


class _Handler(http.server.BaseHTTPRequestHandler):
    """An OpenSearch without any index, which answers no search once it is silent, and lists with the server's `hits` if it has some."""

    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        """Nothing is logged."""

    def _serve(self):
        asked = self.rfile.read(int(self.headers.get("Content-Length", 0)))
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
        if self.server.hits and "_search" in self.path and b'"cluster":"asc"' in asked:
            code, body = 200, _page(self.server.hits, json.loads(asked))
        self.send_response(code)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            with contextlib.suppress(OSError):  # It takes no more of an answer that is too long.
                self.wfile.write(body)

    do_GET = do_POST = do_PUT = do_DELETE = do_HEAD = _serve


def _hits(count, size):
    """So many Secrets of so many bytes, as (place, text) in their order."""
    hits = []
    for number in range(count):
        place = ["member1", "large", f"secret-{number:06d}"]
        source = {"cluster": place[0], "namespace": place[1], "name": place[2], "uid": f"uid-{number}", "resourceVersion": "1",
                  "group": "", "version": "v1", "kind": "Secret", "rest": {"metadata": {}, "data": {"x": "x" * size}}}
        hits.append((place, json.dumps({"_source": source, "sort": place})))
    return hits


def _page(hits, query):
    """The bytes of an answer."""
    after = query.get("search_after", [])
    page = [text for place, text in hits if place > after][:query["size"]]
    total = {"value": len(hits), "relation": "eq"}
    return f'{{"_shards": {{"failed": 0}}, "hits": {{"total": {json.dumps(total)}, "hits": [{",".join(page)}]}}}}'.encode()


@contextlib.contextmanager
def _opensearch(attacked):
    """Has Secrets, of which there are none, mirrored in one; yields its server, which has the event that makes it silent."""
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Handler) as server:
        server.silent, server.over, server.hits = threading.Event(), threading.Event(), []
        threading.Thread(target=server.serve_forever, daemon=True).start()
        attacked.admin.create(REGISTRIES, {
            "apiVersion": "search.karmada.io/v1alpha1", "kind": "ResourceRegistry", "metadata": {"name": "mirrored"},
            "spec": {"targetCluster": {}, "resourceSelectors": [{"apiVersion": "v1", "kind": "Secret"}],
                     "backendStore": {"openSearch": {"addresses": [f"http://127.0.0.1:{server.server_address[1]}"]}}}})
        try:
            wait_until("a search", lambda: send(attacked, _REQUEST) == 200, 60)
            yield server
        finally:
            server.over.set()
            attacked.admin.delete(f"{REGISTRIES}/mirrored")
            server.shutdown()


@attack("searches by one user", sizes={"short": 250, "long": 250}, flags=("--max-requests-inflight=0",),
        at_most={"growth MB": 60, "bystander failed": 0, "others refused": 0})
def searches(attacked, count):
    """So many searches of one user in an OpenSearch that does not answer, where 16 are worked at and 64 wait; somebody else
    searches once."""
    with _opensearch(attacked) as opensearch:
        opensearch.silent.set()
        with held(attacked, another_user(attacked), _REQUEST, count):
            code = send(attacked, _REQUEST)
            return {"others refused": int(code in (0, 429)), "code of others": code}


@attack("large answers of searches", sizes={"short": 4, "long": 16}, flags=("--max-requests-inflight=0",),
        at_most={"growth MB": 450, "afterwards growth MB": 250, "bystander failed": 0, "others refused": 0, "none refused": 0,
                 "unexpected answers": 0})
def large_answers(attacked, count):
    """So many searches of each of three users find 30 MB, which the users do not take; meanwhile somebody else searches for one
    object. Afterwards all have gone, and one finds everything."""
    with _opensearch(attacked) as opensearch:
        opensearch.hits = _hits(300, 100_000)
        with contextlib.ExitStack() as all_held:
            for number in range(3):
                all_held.enter_context(held(attacked, another_user(attacked, f"greedy-{number}"), _REQUEST, count))
            refused = wait(lambda: _refused(attacked) > 0, 60)
            codes = [attacked.answer(_ONE, timeout=60)[0] for _ in range(5)]
        wait_until("a whole answer", lambda: attacked.answer(_REQUEST, timeout=60)[0] == 200, 60)
        text = attacked.answer(_REQUEST, timeout=60)[1]
        found = text.count(b'"name":"secret-')
        attacked.wait_quiet()
        return {"none refused": int(not refused), "others refused": codes.count(429), "codes of others": sorted(set(codes)),
                "unexpected answers": int(found != 300),
                "afterwards growth MB": attacked.process.rss_bytes() / MB - attacked.figures["before MB"]}


def _refused(attacked):
    """How many searches have been refused because they and others take so much memory."""
    name = 'karmada_refused_requests_total{cause="search-memory"}'
    return next((float(line.split()[-1]) for line in attacked.admin.request("GET", "/metrics").splitlines() if line.startswith(name)), 0)
