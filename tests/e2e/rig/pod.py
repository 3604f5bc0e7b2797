"""A container of a pod as a process of this machine, with the command, environment, user and files that the pod gives it.

Its root is the file system of the program's image (packaging/image) with what the pod mounts, read-only; its
network is that of this machine, and its address one of loopback's. Needs root, or Linux' user namespaces.
"""

import base64
import itertools
import os
import pathlib
import re
import shutil
import ssl
import sys
import urllib.error
import urllib.parse
import urllib.request

from . import paths
from .process import must, wait_until

_ENTER = """
set -eu
root=$1; shift
mount --bind "$root" "$root"
for each in proc dev; do mount --rbind "/$each" "$root/$each"; done
mount -o remount,bind,ro "$root"
exec "$@"
"""
_ACCOUNT_FOLDER = "/var/run/secrets/kubernetes.io/serviceaccount"
_numbers = itertools.count(10)


def new_address():
    """An address of loopback that no other pod has."""
    number = next(_numbers)
    return f"127.{77 + os.getpid() % 100}.{number // 250}.{number % 250 + 1}"


def secret(namespace, name, data):
    """The object of a Secret; `data` are texts by key."""
    return {"apiVersion": "v1", "kind": "Secret", "metadata": {"namespace": namespace, "name": name},
            "data": {key: base64.b64encode(text.encode()).decode() for key, text in data.items()}}


class ServiceAccount:
    """A pod's access to the API server of its cluster."""

    def __init__(self, kube, namespace, name):
        self._address, self._namespace, self._ca = urllib.parse.urlparse(kube.server), namespace, kube.authority()
        self._token = kube.kubectl("-n", namespace, "create", "token", name).strip()

    def files(self):
        """{file name: text} of its folder."""
        return {"token": self._token, "ca.crt": self._ca, "namespace": self._namespace}

    def environment(self):
        """Where the API server is."""
        return {"KUBERNETES_SERVICE_HOST": self._address.hostname, "KUBERNETES_SERVICE_PORT": str(self._address.port)}


class Pod:
    """A running container. stop() it."""

    def __init__(self, plane, name, spec, program, secrets, hosts=(), address=None, account=None):
        """`spec` is the pod's, with one container, whose image is that of `program`; `secrets` are {name: {key: text}},
        `hosts` pairs of an address and a name; `account` is what the kubelet gives a pod of its service account."""
        self.address = address or new_address()
        self._container = spec["containers"][0]
        self._root = plane.folder / "pods" / name
        shutil.rmtree(self._root, ignore_errors=True)
        shutil.copytree(_image_root(plane.folder / "images", program), self._root, symlinks=True, copy_function=os.link)
        self._furnish(hosts)
        self._mount(spec["volumes"], secrets)
        for key, text in (account.files() if account else {}).items():
            self._write(f"{_ACCOUNT_FOLDER}/{key}", text)
        inside = os.getuid() == 0
        user = (spec.get("securityContext") or {}).get("runAsUser", 0) if inside else 0
        self.process = plane.start(name, [
            "unshare", "--mount", *([] if inside else ["--map-root-user"]), "sh", "-c", _ENTER, "pod", self._root,
            sys.executable, "-I", paths.E2E / "rig" / "enter.py", self._root, user, *self.words()],
            env={"POD_IP": self.address, "PATH": "/bin", **(account.environment() if account else {})})

    def words(self):
        """The command line, with its references to the environment resolved."""
        words = [*self._container["command"], *self._container.get("args", [])]
        return [re.sub(r"\$\(POD_IP\)", self.address, word) for word in words]

    def _furnish(self, hosts):
        """What container runtimes give each container besides its image."""
        for folder in ("proc", "dev"):
            (self._root / folder).mkdir(parents=True)
        lines = [("127.0.0.1", "localhost"), *hosts]
        (self._root / "etc" / "hosts").write_text("".join(f"{address} {name}\n" for address, name in lines))

    def _mount(self, volumes, secrets):
        volumes = {volume["name"]: _data_of(volume["secret"], secrets) for volume in volumes}
        for mount in self._container["volumeMounts"]:
            data, place = volumes[mount["name"]], self._inside(mount["mountPath"])
            if "subPath" in mount:
                self._write(mount["mountPath"], data[mount["subPath"]])
                continue
            place.mkdir(parents=True, exist_ok=True)
            for key, text in data.items():
                (place / key).write_text(text)

    def _write(self, path, text):
        place = self._inside(path)
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)

    def _inside(self, path):
        return self._root / pathlib.Path(path).relative_to("/")

    def probe(self, kind):
        """Whether a probe of the container succeeds now."""
        get = self._container[kind]["httpGet"]
        ports = {port["name"]: port["containerPort"] for port in self._container.get("ports", []) if "name" in port}
        port = ports.get(get["port"], get["port"])
        return self.get(f"{get.get('scheme', 'HTTP').lower()}://{self.address}:{port}{get['path']}") is not None

    @staticmethod
    def get(url):
        """The text at an address of the pod; None unless it is answered with success."""
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        try:
            with urllib.request.urlopen(url, timeout=5, context=context) as answer:
                return answer.read().decode()
        except urllib.error.HTTPError:
            return None

    def wait(self, kind="readinessProbe", timeout=90):
        """Waits until a probe succeeds."""
        def succeeds():
            self.process.check_alive()
            return self.probe(kind)
        wait_until(f"{kind} of {self.process.name}", succeeds, timeout)

    def stop(self, timeout=60):
        """Ends it as a kubelet does; the exit code."""
        return self.process.stop(timeout)


def _data_of(volume, secrets):
    """{file: text} of a volume with a Secret: all of it, unless the volume names items."""
    data = secrets[volume["secretName"]]
    return {item["path"]: data[item["key"]] for item in volume["items"]} if "items" in volume else data


def _image_root(folder, program):
    """The file system of a program's image; it is made once on each plane."""
    output = folder / program.parent.parent.name / program.name  # Upstream's program may have the name of ours.
    root = output / "root"
    if not root.exists():
        must([sys.executable, paths.ROOT / "packaging" / "image" / "build.py", "--binary", program, "--output",
              output, "--root", root])
    return root
