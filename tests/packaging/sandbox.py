"""A control plane with two members for the programs of images, and objects in it."""
import base64
import http.client
import json
import pathlib
import ssl
import subprocess

import yaml

import places

DEMO = places.SOURCE / "config" / "samples" / "demo"
CLUSTERS = "/apis/cluster.karmada.io/v1alpha1/clusters"
PATHS = {
    "Namespace": "/api/v1/namespaces",
    "Deployment": "/apis/apps/v1/namespaces/demo/deployments",
    "PropagationPolicy": "/apis/policy.karmada.io/v1alpha1/namespaces/demo/propagationpolicies",
    "CustomResourceDefinition": "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
}


class Sandbox:
    """A running karmada-sandbox without a controller manager."""

    def __init__(self, directory, program=None):
        self.errors = open(pathlib.Path(directory) / "errors", "w+", encoding="utf-8")  # pylint: disable=consider-using-with
        self.process = subprocess.Popen(
            [program or places.BIN / "karmada-sandbox", "up", "--members", "3", "--with-controller-manager", "off",
             "--output", "json", "--dir", str(directory)],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=self.errors, text=True)
        line = self.process.stdout.readline()
        if not line.startswith("{"):
            self.errors.seek(0)
            raise AssertionError(f"karmada-sandbox does not start: {line}{self.errors.read()}")
        self.up = json.loads(line)
        self.kubeconfig = pathlib.Path(self.up["controlPlane"]["kubeconfig"])
        self.directory = pathlib.Path(directory)

    def stop(self):
        self.process.terminate()
        self.process.wait(30)
        self.process.stdout.close()
        self.errors.close()

    def request(self, method, path, body=None, cluster="karmada"):
        """Asks the control plane, or a member, as its administrator; returns the status and the object."""
        config = yaml.safe_load((self.directory / f"{cluster}.kubeconfig").read_text())
        server, user = config["clusters"][0]["cluster"], config["users"][0]["user"]
        pem = self.directory / f"{cluster}.pem"
        pem.write_bytes(b"".join(base64.b64decode(user[field])
                                 for field in ("client-key-data", "client-certificate-data")))
        context = ssl.create_default_context(
            cadata=base64.b64decode(server["certificate-authority-data"]).decode())
        context.load_cert_chain(pem)
        connection = http.client.HTTPSConnection(server["server"].removeprefix("https://"), context=context,
                                                 timeout=places.DEADLINE)
        try:
            connection.request(method, path, body and json.dumps(body),
                               {"Content-Type": "application/json"} if body else {})
            answer = connection.getresponse()
            return answer.status, json.loads(answer.read())
        finally:
            connection.close()

    def create_files(self, *paths):
        for path in paths:
            for body in yaml.safe_load_all(path.read_text()):
                status, answer = self.request("POST", PATHS[body["kind"]], body)
                if status not in (201, 409):
                    raise AssertionError(f"{path}: {answer}")

    def is_ready(self, cluster):
        _, found = self.request("GET", f"{CLUSTERS}/{cluster}")
        conditions = found.get("status", {}).get("conditions", [])
        return any(c["type"] == "Ready" and c["status"] == "True" for c in conditions)

    def leader(self, name):
        status, lease = self.request("GET", f"/apis/coordination.k8s.io/v1/namespaces/karmada-system/leases/{name}")
        return lease["spec"].get("holderIdentity") if status == 200 else None
