"""Metrics of pods as autoscalers get them: karmada-metrics-adapter behind the control plane's API server, and in each
member a metrics server of ours behind the member's API server, whose values tests set.

The member's server lists the pods that the member has, so that names and labels are real; what they use is what a test
says. It does what metrics-server and an adapter of custom metrics do, as far as karmada-metrics-adapter asks.
"""

import datetime
import http.server
import json
import ssl
import threading
import urllib.parse

from . import manifests
from .kube import ApiError, Kube
from .plane import HOST
from .process import free_port, wait_until

_RESOURCE, _CUSTOM = "metrics.k8s.io/v1beta1", "custom.metrics.k8s.io/v1beta2"
_OF_MEMBERS = ["v1beta1.metrics.k8s.io", "v1beta2.custom.metrics.k8s.io"]
_OF_HOST = [*_OF_MEMBERS, "v1beta1.custom.metrics.k8s.io"]  # Those that Karmada's installation registers.
_API_SERVICES = "/apis/apiregistration.k8s.io/v1/apiservices"
_WINDOW_SECONDS = 15
_KINDS = {"pods": ("Pod", "v1"), "services": ("Service", "v1"), "deployments.apps": ("Deployment", "apps/v1")}


class MetricsSite:
    """The whole chain on a plane; close() takes all of it away."""

    def __init__(self, plane):
        self.plane = plane
        self.servers = {name: MemberMetrics(plane, name) for name in plane.members}
        self._port = free_port()
        self.adapter = None

    def start_adapter(self):
        """Starts karmada-metrics-adapter and waits until the control plane passes requests for metrics on to it."""
        plane, pki = self.plane, self.plane.pki.folder
        kubeconfig = plane.kubeconfigs[HOST]
        self.adapter = plane.start("karmada-metrics-adapter", [
            plane.testbed.exe("karmada-metrics-adapter"), f"--kubeconfig={kubeconfig}",
            f"--authentication-kubeconfig={kubeconfig}", f"--authorization-kubeconfig={kubeconfig}",
            f"--client-ca-file={pki}/ca.crt", f"--tls-cert-file={pki}/server.crt",
            f"--tls-private-key-file={pki}/server.key", "--bind-address=127.0.0.1", f"--secure-port={self._port}",
            "--metrics-bind-address=0"])
        plane.host.apply(manifests.api_services("karmada-metrics-adapter", "karmada-system", self._port, _OF_HOST))

        def served():
            self.adapter.check_alive()
            return all(plane.host.request("GET", f"/apis/{group}") for group in (_RESOURCE, _CUSTOM))
        wait_until("metrics behind the control plane", served, 60)

    def stop_adapter(self):
        """Ends the adapter; the control plane still has its place, so that requests for metrics fail."""
        self.adapter.stop()

    def pods_with_metrics(self, namespace):
        """How many pods of a namespace the control plane has metrics of, in all clusters together."""
        return len(self.plane.host.items(f"/apis/{_RESOURCE}/namespaces/{namespace}/pods"))

    def close(self):
        if self.adapter is not None:
            self.adapter.stop()
        _unregister(self.plane.host, "karmada-metrics-adapter", "karmada-system", _OF_HOST)
        for server in self.servers.values():
            server.close()


class MemberMetrics:
    """The metrics server of one member, in a thread of this process."""

    def __init__(self, plane, member):
        self._plane, self._member = plane, member
        self._lock = threading.Lock()
        self._usage, self._values = {}, {}
        self._server = _Server(plane.pki, self._answer)
        plane.kube(member).apply(manifests.api_services(
            "rig-metrics", "kube-system", self._server.port, _OF_MEMBERS))
        for name in _OF_MEMBERS:
            version, group = name.split(".", 1)
            plane.kube(member).wait_ready(f"/apis/{group}/{version}")

    def close(self):
        _unregister(self._plane.kube(self._member), "rig-metrics", "kube-system", _OF_MEMBERS)
        self._server.close()

    def set_usage(self, namespace, app, **usage):
        """What each container of the pods with this label `app` uses from now on: cpu="100m", memory="64Mi"."""
        with self._lock:
            self._usage[namespace, app] = usage

    def set_value(self, namespace, resource, name, metric, value):
        """The custom metric of an object ("services", "deployments.apps"), or of each pod whose label `app` is the
        name."""
        with self._lock:
            self._values[namespace, resource, name, metric] = value

    # ---- What it answers --------------------------------------------------------------------------

    def _answer(self, path, query):
        """The body of an answer, or None for 404."""
        parts = path.strip("/").split("/")
        if parts[:3] == ["apis", *_RESOURCE.split("/")]:
            return self._resource_metrics(parts[3:], query)
        if parts[:3] == ["apis", *_CUSTOM.split("/")]:
            return self._custom_metrics(parts[3:], query)
        return {} if path in ("/livez", "/readyz", "/healthz") else None

    def _resource_metrics(self, parts, query):
        if not parts:
            return _resources(_RESOURCE, [("pods", "PodMetrics", True), ("nodes", "NodeMetrics", False)])
        if parts == ["nodes"]:
            return _list("NodeMetricsList", _RESOURCE, [])
        namespace = parts[1] if parts[0] == "namespaces" else ""
        rest = parts[2:] if namespace else parts
        if rest[:1] != ["pods"]:
            return None
        found = [self._pod_metrics(pod) for pod in self._pods(namespace, query.get("labelSelector", ""))]
        found = [item for item in found if item is not None]
        if len(rest) == 1:
            return _list("PodMetricsList", _RESOURCE, found)
        return next((item for item in found if item["metadata"]["name"] == rest[1]), None)

    def _pod_metrics(self, pod):
        metadata = pod["metadata"]
        usage = self._usage.get((metadata["namespace"], metadata.get("labels", {}).get("app")))
        if usage is None:
            return None
        return {"kind": "PodMetrics", "apiVersion": _RESOURCE, "timestamp": _now(), "window": f"{_WINDOW_SECONDS}s",
                "metadata": {"name": metadata["name"], "namespace": metadata["namespace"],
                             "labels": metadata.get("labels", {}), "creationTimestamp": _now()},
                "containers": [{"name": c["name"], "usage": usage} for c in pod["spec"]["containers"]]}

    def _custom_metrics(self, parts, query):
        if not parts:
            names = sorted({f"{resource}/{metric}" for _, resource, _, metric in self._values})
            return _resources(_CUSTOM, [(name, "MetricValueList", True) for name in names])
        if len(parts) != 5 or parts[0] != "namespaces":
            return None
        _, namespace, resource, name, metric = parts
        found = []
        for described, app in self._described(namespace, resource, name, query.get("labelSelector", "")):
            value = self._values.get((namespace, resource, app, metric))
            if value is not None:
                kind, version = _KINDS[resource]
                found.append({
                    "describedObject": {"kind": kind, "apiVersion": version, "namespace": namespace, "name": described},
                    "metric": {"name": metric}, "timestamp": _now(), "windowSeconds": _WINDOW_SECONDS, "value": value})
        return _list("MetricValueList", _CUSTOM, found) if found else None

    def _described(self, namespace, resource, name, selector):
        """(name, what its values are filed under) of the objects that a request for custom metrics is about."""
        if resource != "pods":
            return [(name, name)]
        return [(pod["metadata"]["name"], pod["metadata"].get("labels", {}).get("app"))
                for pod in self._pods(namespace, selector) if name in ("*", pod["metadata"]["name"])]

    def _pods(self, namespace, selector):
        """The running pods of the member; each request has a client of its own, since clients know no threads."""
        kube = Kube(self._plane.kubeconfigs[self._member], "")
        path = f"/api/v1/namespaces/{namespace}/pods" if namespace else "/api/v1/pods"
        pods = kube.items(path + (f"?labelSelector={urllib.parse.quote(selector)}" if selector else ""))
        return [pod for pod in pods if pod.get("status", {}).get("phase") == "Running"]


class _Server:
    """Serves answer(path, query) as JSON over TLS on a free port."""

    def __init__(self, pki, answer):
        class Handler(http.server.BaseHTTPRequestHandler):
            """One request."""

            protocol_version = "HTTP/1.1"

            def do_GET(self):
                url = urllib.parse.urlsplit(self.path)
                query = dict(urllib.parse.parse_qsl(url.query))
                try:
                    body = answer(urllib.parse.unquote(url.path), query)
                    code = 404 if body is None else 200
                except (ApiError, OSError) as error:
                    body, code = {"message": str(error)}, 500
                text = json.dumps(body if code == 200 else _failure(code, body)).encode()
                self.send_response(code)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(text)))
                self.end_headers()
                self.wfile.write(text)

            def log_message(self, *_):
                pass

        self.port = free_port()
        self._http = http.server.ThreadingHTTPServer(("127.0.0.1", self.port), Handler)
        self._http.daemon_threads = True
        tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        tls.load_cert_chain(pki.crt("server"), pki.key("server"))
        self._http.socket = tls.wrap_socket(self._http.socket, server_side=True, do_handshake_on_connect=False)
        self._thread = threading.Thread(target=self._http.serve_forever, daemon=True)
        self._thread.start()

    def close(self):
        self._http.shutdown()
        self._http.server_close()
        self._thread.join(5)


def _unregister(kube, server, namespace, names):
    for name in names:
        kube.delete(f"{_API_SERVICES}/{name}")
    kube.delete(f"/api/v1/namespaces/{namespace}/services/{server}")


def _resources(version, rows):
    return {"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": version, "resources": [
        {"name": name, "singularName": "", "namespaced": namespaced, "kind": kind, "verbs": ["get", "list"]}
        for name, kind, namespaced in rows]}


def _list(kind, version, items):
    return {"kind": kind, "apiVersion": version, "metadata": {}, "items": items}


def _failure(code, body):
    return {"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": code,
            "reason": "NotFound" if code == 404 else "InternalError",
            "message": (body or {}).get("message", "not found")}


def _now():
    return datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
