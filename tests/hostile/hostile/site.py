"""A sandbox full of pods with a karmada-search over it, which attacks are aimed at."""

import base64
import pathlib
import socket
import ssl
import sys
import threading
import time

import yaml

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parents[1] / "bench"), str(HERE.parents[1] / "e2e")]

from rig import paths  # noqa: E402  (the path has to be set first)
from rig.kube import ApiError  # noqa: E402
from rig.process import wait_until  # noqa: E402
from rig.sandbox_search import PROXY, SandboxSearch  # noqa: E402
from search import pods  # noqa: E402
from search.load import Load  # noqa: E402

from .figures import MB, Figures  # noqa: E402,F401  (attacks take MB from here)
from .relay import Relay  # noqa: E402

VIEW = "/apis/search.karmada.io/v1alpha1/search/cache"
# The memory limit of the chart (search.resources.limits.memory).
CHART_LIMIT = 1 << 30


class Site(SandboxSearch):
    """Each attack gets a karmada-search of its own (attacked()), all of them the same sandbox."""

    def __init__(self, logs, total, program):
        super().__init__(logs)
        # Should a bound fail, the machine does not suffer.
        self.total, self._program = total, ("prlimit", f"--as={4 * CHART_LIMIT}", program)
        self.control, self._relayed = None, self.folder / "relayed.kubeconfig"

    def _start(self):
        super()._start()
        # A reader like any other, whom limits of requests in flight count for.
        for name in ("reader", "bystander"):
            self._pki.certificate(name, name, group="readers")
        for number, member in enumerate(self.members):
            self._fill(member, number)
        self.register("pods", ("v1", "Pod"))
        self.stop_search()
        self.control = Relay(self.kubeconfig("karmada"), self._pki.crt("search"), self._pki.key("search"))
        self._pki.kubeconfig(self._relayed, self.control.url, "admin")

    def __exit__(self, *error):
        if self.control is not None:
            self.control.__exit__()
        super().__exit__(*error)

    def _fill(self, member, number):
        kube, each, folder = self.kube(member), self.total // len(self.members), self.folder / f"fill-{member}"
        folder.mkdir()
        for group in range(pods.NAMESPACES):
            try:
                kube.create("/api/v1/namespaces", {"metadata": {"name": f"team-{group}"}})
            except ApiError as error:
                if error.code != 409:
                    raise
        pods.fill_sandbox(self._member_load(member, folder), folder, range(number * each, (number + 1) * each), "elsewhere")

    def _member_load(self, member, folder):
        user = yaml.safe_load(self.kubeconfig(member).read_text())["users"][0]["user"]
        for name in ("certificate", "key"):
            (folder / f"client.{name}").write_bytes(base64.b64decode(user[f"client-{name}-data"]))
        return Load(paths.BIN / "search_load", self.kube(member).server.removeprefix("https://"),
                    folder / "client.certificate", folder / "client.key")

    def attacked(self, attack):
        """A karmada-search that has all pods. Use as a context manager."""
        return Attacked(self, [flag.format(relayed=self._relayed) for flag in attack.flags])


class Attacked(Figures):
    """A running karmada-search, with its memory, CPU time and threads, and a bystander who goes on reading."""

    def __init__(self, site, flags):
        super().__init__()
        self._site, self._flags = site, flags
        self._bystander = None

    def __enter__(self):
        self._start()
        return self

    def _start(self, prefix=()):
        self._site.start_search(self._flags, (*prefix, *self._site._program))
        self.process = self._site._search
        try:
            wait_until("all pods cached", lambda: self._objects() == self._site.total, 120)
        except BaseException:
            self._site.stop_search()
            raise
        self.begin_figures()
        self._bystander = Bystander(self)

    def restart(self, prefix):
        """Starts it again, by a command that gets the program and its arguments as further arguments."""
        self._bystander.stop()
        self._site.stop_search()
        self._start(prefix)

    def __exit__(self, *_):
        self._bystander.stop()
        self._site.stop_search()

    def _objects(self):
        page = self.admin.request("GET", f"{VIEW}/api/v1/pods?limit=1&resourceVersion=0")
        return len(page["items"]) + page["metadata"].get("remainingItemCount", 0)

    @property
    def admin(self):
        return self._site.kube("search")

    @property
    def total(self):
        """How many pods there are."""
        return self._site.total

    @property
    def control(self):
        """The relay in front of the control plane, for those of whose flags one names `{relayed}`."""
        return self._site.control

    @property
    def port(self):
        return self._site._port

    @property
    def pki(self):
        """The authority that the certificates of users come from."""
        return self._site._pki

    def member(self, name):
        return self._site.kube(name)

    def load(self, user="reader"):
        pki = self._site._pki
        return Load(paths.BIN / "search_load", f"127.0.0.1:{self.port}", pki.crt(user), pki.key(user))

    def context(self, user=None):
        """TLS as a client has it, with the certificate of a user, or without any."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        if user:
            context.load_cert_chain(self._site._pki.crt(user), self._site._pki.key(user))
        return context

    def tcp(self, timeout=30, room=None):
        """A connection; `room` is what the system may keep for it before it is read, in bytes."""
        if room is None:
            return socket.create_connection(("127.0.0.1", self.port), timeout=timeout)
        raw = socket.socket()
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, room)
        raw.settimeout(timeout)
        raw.connect(("127.0.0.1", self.port))
        return raw

    def connect(self, user="reader", timeout=30, context=None):
        """A TLS connection. A user of None shows no certificate."""
        return (context or self.context(user)).wrap_socket(self.tcp(timeout))

    def answer(self, request, user="reader", timeout=30):
        """Sends the bytes of one request over a connection of its own; returns the status and what follows."""
        with self.connect(user, timeout) as connection:
            connection.sendall(request)
            text = b""
            while block := connection.recv(1 << 16):
                text += block
        return int(text.split(b" ", 2)[1]), text

    # ---- Figures --------------------------------------------------------------------------------------

    def finish(self):
        """Ends the attack: notes memory and what the bystander saw."""
        self.process.check_alive()
        self.end_figures()
        self._bystander.stop()
        self.figures |= self._bystander.figures()
        self.admin.request("GET", "/readyz")
        return self.figures


class Bystander:
    """Somebody who goes on asking whether the daemon is ready, and for one pod, over new connections."""

    _REQUEST = ("GET {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n")

    def __init__(self, attacked):
        self._attacked, self._stop = attacked, threading.Event()
        self._seconds, self._failures = [], []
        self._context = attacked.context("bystander")
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self):
        while not self._stop.is_set():
            for path in ("/readyz", f"{PROXY}/api/v1/pods?limit=1&resourceVersion=0"):
                self._ask(path)
            self._stop.wait(0.1)

    def _ask(self, path):
        began = time.monotonic()
        try:
            with self._attacked.connect(context=self._context, timeout=60) as connection:
                connection.sendall(self._REQUEST.format(path=path).encode())
                text = b""
                while block := connection.recv(1 << 16):
                    text += block
            if b" 200 OK" not in text[:20]:
                self._failures.append(f"{path}: {text[:40]!r}")
        except OSError as error:
            self._failures.append(f"{path}: {error}")
        self._seconds.append(time.monotonic() - began)

    def stop(self):
        self._stop.set()
        self._thread.join()

    def figures(self):
        return {"bystander asked": len(self._seconds), "bystander failed": len(self._failures),
                "bystander slowest s": max(self._seconds), "bystander failures": self._failures[:3]}


def proxy_path(path):
    return PROXY + path
