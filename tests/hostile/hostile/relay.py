"""A server between a daemon and an API server: it passes everything on, except what an attack answers itself."""

import contextlib
import http.client
import json
import select
import socket
import ssl
import threading
import time
import urllib.parse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import yaml

from rig.kube import client_tls


def _resource_of(path):
    """The last word: of a list or a watch that is its resource."""
    return path.rsplit("/", 1)[-1]


class Asked:
    """One request of the daemon, for an attack to answer or to leave to the API server."""

    def __init__(self, handler):
        self._handler = handler
        parts = urllib.parse.urlsplit(handler.path)
        self.method, self.path = handler.command, parts.path
        self.query = dict(urllib.parse.parse_qsl(parts.query))
        self.resource = _resource_of(parts.path)
        self.is_watch = self.query.get("watch") in ("1", "true")
        self.is_list = self.method == "GET" and not self.is_watch

    def body(self):
        """What came with the request; to be read once, by who answers it."""
        return self._handler.rfile.read(int(self._handler.headers.get("Content-Length", 0)))

    def answer(self, body, code=200):
        """Sends a whole answer: bytes, text or what becomes JSON."""
        if not isinstance(body, (bytes, str)):
            body = json.dumps(body)
        data = body if isinstance(body, bytes) else body.encode()
        self._handler.send_response(code)
        self._handler.send_header("Content-Type", "application/json")
        self._handler.send_header("Content-Length", str(len(data)))
        self._handler.end_headers()
        self._handler.wfile.write(data)

    def begin(self):
        """Begins an answer that goes on, as one to a watch."""
        self._handler.close_connection = True
        self._handler.send_response(200)
        self._handler.send_header("Content-Type", "application/json")
        self._handler.send_header("Transfer-Encoding", "chunked")
        self._handler.end_headers()

    def write(self, data):
        """Sends a part of it; returns whether the daemon still takes it."""
        try:
            self._handler.wfile.write(b"%x\r\n" % len(data) + data + b"\r\n")
            return True
        except OSError:
            return False

    def hold(self, seconds, step=0.1):
        """Says nothing for so long, or until the daemon hangs up; returns whether it has not."""
        poller = select.poll()
        poller.register(self._handler.connection.fileno(), select.POLLRDHUP)
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            if poller.poll(min(left, step) * 1000):
                return False
        return True


class Relay:
    """Serves TLS at a port of its own in front of the API server of a kubeconfig. Thread-safe; use as a context manager.

    `rule(asked)` returns whether it has answered; it runs on a thread of its connection. None passes everything on.
    """

    def __init__(self, kubeconfig, certificate, key):
        config = yaml.safe_load(kubeconfig.read_text())
        self._address = urllib.parse.urlparse(config["clusters"][0]["cluster"]["server"]).netloc
        self._upstream_tls = client_tls(config)
        self._rule = None
        self._lock = threading.Lock()
        self._watches = {}
        # When which watch began: (time.monotonic(), path).
        self.begun = []
        tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        tls.load_cert_chain(certificate, key)
        self._server = _Server(self, tls)
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._server.shutdown()
        self._server.server_close()
        self.cut()

    @property
    def url(self):
        return f"https://127.0.0.1:{self._server.server_address[1]}"

    @contextlib.contextmanager
    def ruled(self, rule):
        """Within it, the rule answers."""
        self._rule = rule
        try:
            yield
        finally:
            self._rule = None

    def cut(self, which=None):
        """Ends the watches of a path or a resource, or all."""
        with self._lock:
            chosen = [connections for path, connections in self._watches.values() if which in (None, path, _resource_of(path))]
        for connections in chosen:
            for connection in connections:
                with contextlib.suppress(OSError):
                    # That of an SSLSocket would forget the session which another thread is using.
                    socket.socket.shutdown(connection, socket.SHUT_RDWR)

    def watched(self):
        """The paths of which watches are open."""
        with self._lock:
            return {path for path, _ in self._watches.values()}

    # ---- On the thread of a connection ---------------------------------------------------------------

    def serve(self, handler):
        asked = Asked(handler)
        if asked.is_watch:
            with self._lock:
                self._watches[handler] = (asked.path, [handler.connection])
                self.begun.append((time.monotonic(), asked.path))
        try:
            if self._rule is None or not self._rule(asked):
                self._pass_on(handler, asked)
        except OSError:
            handler.close_connection = True  # One of the two has gone.
        finally:
            with self._lock:
                self._watches.pop(handler, None)

    def _pass_on(self, handler, asked):
        length = int(handler.headers.get("Content-Length", 0))
        body = handler.rfile.read(length) if length else None
        headers = {name: value for name, value in handler.headers.items()
                   if name.lower() in ("accept", "content-type", "user-agent")}
        upstream = http.client.HTTPSConnection(self._address, context=self._upstream_tls, timeout=None)
        try:
            upstream.connect()
            if asked.is_watch:
                with self._lock:
                    if handler in self._watches:
                        self._watches[handler][1].append(upstream.sock)
            upstream.request(asked.method, handler.path, body, headers)
            response = upstream.getresponse()
            if asked.is_watch and response.status == 200:
                self._stream(handler, asked, response)
            else:
                asked.answer(response.read(), response.status)
        except http.client.HTTPException as error:
            raise OSError(str(error)) from error
        finally:
            upstream.close()

    @staticmethod
    def _stream(handler, asked, response):
        """Passes pieces on as they come. Nothing comes after the daemon has hung up but a bookmark, which ends it."""
        asked.begin()
        while piece := response.read1(1 << 16):
            if not asked.write(piece):
                return
        asked.write(b"")  # The chunk that ends the answer.
        handler.close_connection = True


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def __init__(self, relay, tls):
        super().__init__(("127.0.0.1", 0), _Handler)
        self.relay, self._tls = relay, tls

    def get_request(self):
        connection, address = super().get_request()
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        # The handshake is made by the first read, on the thread of the connection.
        return self._tls.wrap_socket(connection, server_side=True, do_handshake_on_connect=False), address

    def handle_error(self, request, client_address):
        """Clients hang up; that is what attacks are about."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        """Nothing is logged."""

    def _serve(self):
        self.server.relay.serve(self)

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = _serve
