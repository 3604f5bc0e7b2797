"""What the page is tried on: a sandbox with members and a controller manager, a proxy that asks for tokens, the page's server, and a line to it."""

import base64
import json
import os
import pathlib
import signal
import socket
import ssl
import subprocess
import threading
import time
import urllib.error
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import yaml

ROOT = pathlib.Path(__file__).resolve().parents[2]
BIN = ROOT / "build" / "release" / "bin"
PATIENCE = 90.0


def eventually(what, check):
    """Repeats the check until it returns something true, and returns that. `what` is a text, or a function that makes one."""
    until = time.monotonic() + PATIENCE
    while True:
        found = check()
        if found:
            return found
        if time.monotonic() > until:
            raise AssertionError(f"waited in vain: {what() if callable(what) else what}")
        time.sleep(0.1)


class Server:
    """An API server of the sandbox, with the rights of its kubeconfig."""

    def __init__(self, kubeconfig):
        self.kubeconfig = kubeconfig
        config = yaml.safe_load(kubeconfig.read_text(encoding="utf-8"))
        cluster, user = config["clusters"][0]["cluster"], config["users"][0]["user"]
        self.server = cluster["server"]
        self.context = ssl.create_default_context(cadata=base64.b64decode(cluster["certificate-authority-data"]).decode())
        pair = kubeconfig.with_suffix(".pem")
        pair.touch(mode=0o600)
        pair.write_bytes(base64.b64decode(user["client-certificate-data"]) + base64.b64decode(user["client-key-data"]))
        self.context.load_cert_chain(pair)
        self._served = {}

    def call(self, method, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.server + path, method=method, data=data, headers={"Content-Type": "application/json"})
        with urllib.request.urlopen(request, context=self.context, timeout=30) as answer:
            return json.load(answer)

    def list(self, version, plural):
        return self.call("GET", f"/{'apis' if '/' in version else 'api'}/{version}/{plural}")["items"]

    def create(self, manifest):
        self.create_in("default", manifest)

    def create_in(self, namespace, manifest):
        """Creates the object, in that namespace if it has none and needs one."""
        version = manifest["apiVersion"]
        path = f"/{'apis' if '/' in version else 'api'}/{version}"
        if manifest["kind"] not in self._served.get(version, {}):
            self._served[version] = {one["kind"]: one for one in self.call("GET", path)["resources"] if "/" not in one["name"]}
        resource = self._served[version][manifest["kind"]]
        if resource["namespaced"]:
            path += f"/namespaces/{manifest['metadata'].setdefault('namespace', namespace)}"
        self.call("POST", f"{path}/{resource['name']}", manifest)

    def create_all(self, text):
        for manifest in yaml.safe_load_all(text):
            self.create(manifest)


class Sandbox(Server):
    """A control plane with members and the controller manager."""

    def __init__(self, folder, *more, members=3):
        self.folder = pathlib.Path(folder)
        self._process = subprocess.Popen([BIN / "karmada-sandbox", "up", "--members", str(members), "--dir", self.folder, *more],
                                         stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        kubeconfig = self.folder / "karmada.kubeconfig"
        eventually("the sandbox is up", lambda: kubeconfig.exists() or self._process.poll() is not None)
        assert self._process.poll() is None, "the sandbox has ended by itself"
        super().__init__(kubeconfig)
        self._members = {}
        eventually("the clusters are ready", lambda: all(map(is_ready, self.list("cluster.karmada.io/v1alpha1", "clusters"))))

    def member(self, name):
        if name not in self._members:
            self._members[name] = Server(self.folder / f"{name}.kubeconfig")
        return self._members[name]

    def steer(self, *words):
        """karmada-sandbox WORDS, such as "manager down"."""
        done = subprocess.run([BIN / "karmada-sandbox", *words], env={**os.environ, "KUBECONFIG": str(self.kubeconfig)},
                              capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr

    def stop(self):
        self._process.send_signal(signal.SIGINT)
        self._process.wait()


def is_ready(cluster):
    conditions = cluster.get("status", {}).get("conditions", [])
    return any(one["type"] == "Ready" and one["status"] == "True" for one in conditions)


class Gate:
    """Stands before the sandbox, over plain HTTP: lets in whoever has one of its tokens, and can be shut as if the plane had gone."""

    def __init__(self, sandbox):
        self.tokens = set()
        self.is_shut = False
        self.refused = ""  # Whose path has this in it may not be read.
        self.seen = []  # The paths that were asked for.
        gate = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def do_GET(self):
                if gate.is_shut:
                    self.close_connection = True
                    self.connection.close()
                    return
                gate.seen.append(self.path)
                token = self.headers.get("Authorization", "").removeprefix("Bearer ")
                if token not in gate.tokens:
                    self._answer(401, json.dumps({"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": 401,
                                                  "reason": "Unauthorized", "message": "Unauthorized"}).encode(), "application/json")
                    return
                if gate.refused and gate.refused in self.path:
                    self._answer(403, json.dumps({"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": 403, "reason": "Forbidden",
                                                  "message": f"you cannot list {gate.refused}"}).encode(), "application/json")
                    return
                request = urllib.request.Request(sandbox.server + self.path, headers={"Accept": self.headers.get("Accept", "*/*")})
                try:
                    with urllib.request.urlopen(request, context=sandbox.context, timeout=30) as answer:
                        self._answer(answer.status, answer.read(), answer.headers["Content-Type"])
                except urllib.error.HTTPError as error:
                    self._answer(error.code, error.read(), error.headers["Content-Type"])

            def _answer(self, code, body, kind):
                self.send_response(code)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._server.handle_error = lambda *_: None  # Who asked has gone.
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        self.kubeconfig = sandbox.folder / "gate.kubeconfig"

    def write_kubeconfig(self, token=""):
        user = {"token": token} if token else {}
        self.kubeconfig.write_text(json.dumps({
            "apiVersion": "v1", "kind": "Config", "current-context": "gate",
            "clusters": [{"name": "gate", "cluster": {"server": f"http://127.0.0.1:{self._server.server_port}"}}],
            "contexts": [{"name": "gate", "context": {"cluster": "gate", "user": "gate"}}],
            "users": [{"name": "gate", "user": user}]}), encoding="utf-8")
        return self.kubeconfig

    def stop(self):
        self._server.shutdown()


class Page:
    """karmada-lens serve."""

    def __init__(self, kubeconfig, *more, listen="127.0.0.1:0", log=None):
        self.log = log
        out = subprocess.PIPE
        self._process = subprocess.Popen([BIN / "karmada-lens", "serve", "--listen", listen, "--kubeconfig", kubeconfig, *more],
                                         stdout=out, stderr=open(log, "a", encoding="utf-8") if log else None, text=True)
        self.said = self._process.stdout.readline()
        assert self.said, "the page's server has ended by itself"
        words = self.said.split()
        self.port = int(words[1] if words[0] == "port" else words[0].rstrip("/").rsplit(":", 1)[1])
        self.address = f"https://127.0.0.1:{self.port}/" if words[0] == "port" else words[0]

    def stop(self):
        self._process.send_signal(signal.SIGINT)
        assert self._process.wait() == 0, "the page's server did not end well"

    def ask(self, path):
        with urllib.request.urlopen(f"{self.address}api/{path}", timeout=120) as answer:
            return json.load(answer)


class Line:
    """Between a browser and the page's server: may be slow for some questions, and may lose all that is sent without ending a connection."""

    def __init__(self, port):
        self.delays = {}  # For how many seconds a question is kept whose path begins so.
        self.loses_all = False
        self.asked = []  # The paths.
        self._to = port
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.address = f"http://127.0.0.1:{self._listener.getsockname()[1]}/"
        threading.Thread(target=self._accept, daemon=True).start()

    def count(self, path):
        return sum(one.startswith(path) for one in self.asked)

    def _accept(self):
        while True:
            try:
                browser, _ = self._listener.accept()
            except OSError:
                return
            server = socket.create_connection(("127.0.0.1", self._to))
            threading.Thread(target=self._copy, args=(browser, server, self._look), daemon=True).start()
            threading.Thread(target=self._copy, args=(server, browser, lambda _: None), daemon=True).start()

    def _look(self, data):
        words = data.split(b" ", 2)
        if words[0] != b"GET":
            return
        path = words[1].decode()
        self.asked.append(path)
        time.sleep(max((seconds for begin, seconds in self.delays.items() if path.startswith(begin)), default=0))

    def _copy(self, source, target, look):
        try:
            while data := source.recv(65536):
                look(data)
                if not self.loses_all:
                    target.sendall(data)
            target.shutdown(socket.SHUT_WR)
        except OSError:
            pass  # One of the two has gone.

    def stop(self):
        self._listener.close()


SPEC = json.dumps({"replicas": 4, "selector": {"matchLabels": {"app": "any"}}, "template": {
    "metadata": {"labels": {"app": "any"}}, "spec": {"containers": [{"name": "main", "image": "registry.example/catalogue:1.25"}]}}})


def manifests(name):
    """Those of a file beside this one."""
    text = (pathlib.Path(__file__).parent / name).read_text(encoding="utf-8")
    now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    return text.replace("spec: SPEC", f"spec: {SPEC}").replace("NOW", f'"{now}"')
