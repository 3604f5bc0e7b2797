"""A small client of one API server: JSON over one kept connection, and kubectl where that is the point."""

import base64
import http.client
import json
import os
import pathlib
import ssl
import tempfile
import time
import urllib.parse

import yaml

from .process import must, run, wait_until


_BUSY_SECONDS = 30
_DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"


class ApiError(AssertionError):
    """An answer of 400 or above."""

    def __init__(self, method, path, code, body):
        super().__init__(f"{method} {path}: {code} {body[:800]}")
        self.code, self.body = code, body


class Kube:
    """One API server, as the user of a kubeconfig. Not for use by several threads."""

    def __init__(self, kubeconfig, kubectl):
        self.kubeconfig = pathlib.Path(kubeconfig)
        self._kubectl = kubectl
        config = yaml.safe_load(self.kubeconfig.read_text())
        self.context = config["current-context"]
        self.server = config["clusters"][0]["cluster"]["server"]
        self._address = urllib.parse.urlparse(self.server).netloc
        self._tls = client_tls(config)
        self._connection = None

    def authority(self):
        """The certificate of the authority that its server's certificate is of."""
        config = yaml.safe_load(self.kubeconfig.read_text())
        return base64.b64decode(config["clusters"][0]["cluster"]["certificate-authority-data"]).decode()

    def request(self, method, path, body=None, content_type="application/json", timeout=30):
        """The parsed answer (text if it is not JSON). Raises ApiError for 400 and above."""
        data = json.dumps(body) if body is not None else None
        headers = {"Accept": "application/json", "Content-Type": content_type, "User-Agent": "rig"}
        for attempt in (1, 2):
            kept = self._connection is not None
            if not kept:
                self._connection = http.client.HTTPSConnection(self._address, context=self._tls, timeout=timeout)
            try:
                self._connection.request(method, path, data, headers)
                response = self._connection.getresponse()
                text = response.read().decode()
                break
            except (OSError, http.client.HTTPException) as error:
                self._connection.close()
                self._connection = None
                if not kept or attempt == 2:  # A kept connection may have gone stale; a new one has not.
                    raise OSError(f"{method} {path} at {self._address}: {error}") from error
        if response.status >= 400:
            raise ApiError(method, path, response.status, text)
        is_json = response.headers.get("Content-Type", "").startswith("application/json")
        return json.loads(text) if is_json else text

    def stream(self, path):
        """The lines of an answer that goes on, each with the time (time.monotonic) at which it was here; on a connection
        of its own."""
        connection = http.client.HTTPSConnection(self._address, context=self._tls)
        connection.request("GET", path, headers={"Accept": "application/json", "User-Agent": "rig"})
        response = connection.getresponse()
        if response.status >= 400:
            raise ApiError("GET", path, response.status, response.read().decode())
        while line := response.readline():
            yield line, time.monotonic()

    def get(self, path):
        """The answer; a server that says 429, as while it opens the storage of a defined kind, is asked again."""
        end = time.monotonic() + _BUSY_SECONDS
        while True:
            try:
                return self.request("GET", path)
            except ApiError as error:
                if error.code != 429 or time.monotonic() > end:
                    raise
            time.sleep(0.5)

    def find(self, path):
        """The object, or None if there is none."""
        try:
            return self.get(path)
        except ApiError as error:
            if error.code == 404:
                return None
            raise

    def items(self, path):
        """The objects of a list, each with its kind."""
        answer = self.get(path)
        kind = answer["kind"].removesuffix("List")
        return [{"apiVersion": answer["apiVersion"], "kind": kind, **item} for item in answer["items"] or []]

    def create(self, path, body):
        return self.request("POST", path, body)

    def merge(self, path, patch):
        return self.request("PATCH", path, patch, "application/merge-patch+json")

    def delete(self, path):
        """Deletes; nothing there is fine."""
        try:
            return self.request("DELETE", path)
        except ApiError as error:
            if error.code != 404:
                raise
            return None

    def kubectl(self, *words, text=None, timeout=60):
        """What kubectl printed; it has to succeed."""
        return must(self._command(words), text, timeout)

    def try_kubectl(self, *words, text=None, timeout=60):
        """kubectl's subprocess.CompletedProcess, whatever came of it."""
        return run(self._command(words), text, timeout)

    def _command(self, words):
        return [self._kubectl, "--kubeconfig", self.kubeconfig, *words]

    def apply(self, objects, *words):
        """kubectl apply of a list of objects, or of YAML text."""
        text = objects if isinstance(objects, str) else json.dumps(
            {"apiVersion": "v1", "kind": "List", "items": objects})
        return self.kubectl("apply", *words, "-f", "-", text=text, timeout=180)  # Many objects, on a busy machine.

    def wait_established(self, *definitions, timeout=60):
        """Waits until the CustomResourceDefinitions of these names, or all that there are, are served.

        `kubectl wait` fails at once when it comes before the API server has written the first condition.
        """
        def are_established():
            found = {item["metadata"]["name"]: item.get("status", {}) for item in self.items(_DEFINITIONS)}
            served = {name for name, status in found.items() for condition in status.get("conditions") or []
                      if condition["type"] == "Established" and condition["status"] == "True"}
            return served.issuperset(definitions or found)
        wait_until(f"definitions of {self.server}: {' '.join(definitions) or 'all'}", are_established, timeout)

    def wait_ready(self, path="/readyz", timeout=120):
        wait_until(f"{path} of {self.server}", lambda: self.request("GET", path, timeout=5) or True, timeout)


def client_tls(kubeconfig):
    """TLS as the first cluster and user of a parsed kubeconfig have it, for clients."""
    authority = base64.b64decode(kubeconfig["clusters"][0]["cluster"]["certificate-authority-data"]).decode()
    context = ssl.create_default_context(cadata=authority)
    _load_client_certificate(context, kubeconfig["users"][0]["user"])
    return context


def _load_client_certificate(context, user):
    """ssl takes files only; they are gone again at once."""
    pem = base64.b64decode(user["client-certificate-data"]) + base64.b64decode(user["client-key-data"])
    handle, name = tempfile.mkstemp()
    try:
        os.write(handle, pem)
        os.close(handle)
        context.load_cert_chain(name)
    finally:
        os.unlink(name)
