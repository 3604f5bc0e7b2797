"""Certificates, by the openssl command: authorities, servers, users, the service accounts' key."""

import base64
import json
import pathlib

from .process import must

_KEY = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]


class Pki:
    """A folder of certificate authorities and what they signed, as NAME.crt and NAME.key."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)

    def crt(self, name):
        return self.folder / f"{name}.crt"

    def key(self, name):
        return self.folder / f"{name}.key"

    def base64(self, file):
        return base64.b64encode(pathlib.Path(file).read_bytes()).decode()

    def authority(self, name):
        must(["openssl", "req", "-x509", *_KEY, "-days", "3650", "-subj", f"/CN={name}",
              "-addext", "basicConstraints=critical,CA:TRUE",
              "-addext", "keyUsage=critical,keyCertSign,cRLSign,digitalSignature",
              "-keyout", self.key(name), "-out", self.crt(name)])

    def certificate(self, name, common_name, authority="ca", group=None, names=()):
        """A certificate for a user (with a group) or a server (with names such as IP:127.0.0.1)."""
        request, extensions = self.folder / f"{name}.csr", self.folder / f"{name}.ext"
        subject = (f"/O={group}" if group else "") + f"/CN={common_name}"
        must(["openssl", "req", *_KEY, "-subj", subject, "-keyout", self.key(name), "-out", request])
        extensions.write_text("extendedKeyUsage=serverAuth,clientAuth\n"
                              + (f"subjectAltName={','.join(names)}\n" if names else ""))
        must(["openssl", "x509", "-req", "-days", "3650", "-in", request, "-CA", self.crt(authority),
              "-CAkey", self.key(authority), "-CAcreateserial", "-extfile", extensions, "-out", self.crt(name)])

    def request(self, name, common_name, group):
        """A certificate request of a user, with a new key, for somebody else to sign. Returns its path."""
        request = self.folder / f"{name}.csr"
        must(["openssl", "req", *_KEY, "-subj", f"/O={group}/CN={common_name}", "-keyout", self.key(name),
              "-out", request])
        return request

    def service_account_key(self):
        must(["openssl", "genrsa", "-out", self.folder / "sa.key", "2048"])
        must(["openssl", "rsa", "-in", self.folder / "sa.key", "-pubout", "-out", self.folder / "sa.pub"])

    def kubeconfig(self, file, server, user, authority="ca"):
        """Writes a kubeconfig for a user's certificate; returns its path."""
        config = {
            "apiVersion": "v1", "kind": "Config", "current-context": "default",
            "clusters": [{"name": "default", "cluster": {
                "server": server, "certificate-authority-data": self.base64(self.crt(authority))}}],
            "users": [{"name": user, "user": {
                "client-certificate-data": self.base64(self.crt(user)),
                "client-key-data": self.base64(self.key(user))}}],
            "contexts": [{"name": "default", "context": {"cluster": "default", "user": user}}],
        }
        pathlib.Path(file).write_text(json.dumps(config, indent=1))
        return pathlib.Path(file)
