#!/usr/bin/env python3
"""Makes an image of a built program, without Docker: its files come from this machine's Debian packages.

    build.py --binary build/release/bin/karmada-controller-manager --output build/image

writes, with the program's name, an OCI image layout (a folder) and a tar of it, the list of its contents in SPDX
(.spdx.json) and the program's debug information (.debug). With --root FOLDER it writes only the image's file system
there, for other ways to build images (Dockerfile). The same commit and the same packages give the same bytes.
"""
import argparse
import json
import os
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
# pylint: disable=wrong-import-position
import debian
import libraries
import oci
import program as programs
import sbom
from root import Root

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
USER = 65532
ZONES = "/usr/share/zoneinfo/"
CERTIFICATES = "/usr/share/ca-certificates/"
BUNDLE = "etc/ssl/certs/ca-certificates.crt"

DESCRIPTIONS = {
    "karmada-controller-manager": "The controllers of a Karmada control plane, in C++",
    "karmada-agent": "The agent of a member cluster of Karmada in pull mode, in C++",
    "karmada-search": "One cache of all member clusters of a Karmada control plane, in C++",
}


def version():
    """{name: value} as scripts/version.sh has them."""
    lines = subprocess.run([os.path.join(SOURCE, "scripts", "version.sh"), "all"], check=True,
                           capture_output=True, text=True).stdout.splitlines()
    return dict(line.split("=", 1) for line in lines)


class Image:
    """What is in an image: the lower layer with what the program needs, and the upper one with the program."""

    def __init__(self, binary, debug_file):
        self.name = os.path.basename(binary)
        self.elf = libraries.Elf(binary)
        self.base, self.top = Root(), Root()
        self.owners = {}  # Path in the image -> Debian package.
        self._add_users()
        self._add_libraries(binary)
        self._add_certificates()
        self._add_zones()
        self.compiled_in = [debian.package(name) for name in sbom.COMPILED_IN if debian.is_installed(name)]
        self._add_package_facts()
        self.top.file(f"bin/{self.name}", programs.split(binary, debug_file), 0o755)

    def _add_users(self):
        self.base.file("etc/passwd", "root:x:0:0:root:/root:/sbin/nologin\n"
                       f"nonroot:x:{USER}:{USER}:nonroot:/home/nonroot:/sbin/nologin\n")
        self.base.file("etc/group", f"root:x:0:\nnonroot:x:{USER}:\n")
        # Without it the library would ask for names in NIS, too.
        self.base.file("etc/nsswitch.conf", "hosts: files dns\n")
        self.base.folder("tmp", 0o1777)

    def _copy(self, source, path, owner, mode=0o644):
        self.base.copy(source, path, mode)
        self.owners[path] = owner

    def _add_libraries(self, binary):
        found = libraries.needed_by(binary)
        owners = debian.owners_of([*found.values(), self.elf.loader])
        for name, source in found.items():
            self._copy(source, f"usr/lib/{self.elf.folder}/{name}", owners[source])
        self._copy(self.elf.loader, self.elf.loader.lstrip("/"), owners[self.elf.loader], 0o755)

    def _add_certificates(self):
        """Debian's authorities and none that this machine has besides."""
        owner = debian.package("ca-certificates")
        paths = sorted(p for p in debian.files_of(owner.name)
                       if p.startswith(CERTIFICATES) and p.endswith(".crt"))
        if not paths:
            raise LookupError("the package ca-certificates has no certificates")
        texts = []
        for path in paths:
            with open(path, encoding="ascii") as file:
                texts.append(file.read().rstrip("\n") + "\n")
        self.base.file(BUNDLE, "".join(texts))
        self.owners[BUNDLE] = owner
        self.base.link("usr/lib/ssl/cert.pem", "/" + BUNDLE)  # Where OpenSSL looks.

    def _add_zones(self):
        owner = debian.package("tzdata")
        for path in debian.files_of(owner.name):
            name = path.removeprefix(ZONES)
            # These are the same zones once more, and others that count leap seconds.
            if name == path or name.startswith(("posix", "right")) or os.path.isdir(path):
                continue
            if os.path.islink(path):
                self.base.link(path.lstrip("/"), os.readlink(path))
            elif is_zone(path):
                self._copy(path, path.lstrip("/"), owner)

    def _add_package_facts(self):
        """What licences ask for, and where scanners for vulnerabilities look for packages."""
        self._copy("/usr/lib/os-release", "etc/os-release", debian.package("base-files"))
        for package in sorted(set(self.owners.values()), key=lambda p: p.name):
            self.base.file(f"var/lib/dpkg/status.d/{package.name}", package.status)
        # Boost's licence asks for no notice with compiled code, and its text is 2 MB long.
        asked = [package for package in self.compiled_in if not package.name.startswith("libboost")]
        for package in [*set(self.owners.values()), *asked]:
            self._copy(package.copyright, package.copyright.lstrip("/"), package)

    def labels(self, facts):
        labels = {
            "org.opencontainers.image.title": self.name,
            "org.opencontainers.image.description": DESCRIPTIONS.get(self.name, self.name),
            "org.opencontainers.image.version": facts["version"],
            "org.opencontainers.image.revision": facts["commit"],
            "org.opencontainers.image.created": facts["date"],
            "org.opencontainers.image.source": os.environ.get("IMAGE_SOURCE", ""),
            "org.opencontainers.image.licenses": os.environ.get("IMAGE_LICENSES", ""),
        }
        return {name: value for name, value in labels.items() if value}

    def config(self, facts):
        return {
            "architecture": self.elf.architecture,
            "created": facts["date"] or "1970-01-01T00:00:00Z",
            "config": {"User": f"{USER}:{USER}", "Entrypoint": [f"/bin/{self.name}"],
                       "Env": ["PATH=/bin"], "WorkingDir": "/", "Labels": self.labels(facts)},
        }

    def bill(self, facts):
        files = {**self.base.files(), **self.top.files()}
        release = dict(line.split("=", 1) for line in
                       files["etc/os-release"].decode().splitlines() if "=" in line)
        distribution = f"{release['ID']}-{release['VERSION_ID']}".replace('"', "")
        contents = sbom.Contents(files, self.owners, self.compiled_in)
        return sbom.document(self.name, facts["version"], facts["date"], contents, distribution)


def is_zone(path):
    with open(path, "rb") as file:
        return file.read(4) == b"TZif"


def write_root(image, directory):
    both = Root()
    both.entries = {**image.base.entries, **image.top.entries}
    both.write_to(directory)


def write_image(image, output, repository):
    facts = version()
    layout = oci.Layout()
    layers = [(image.base.tar(), "libraries, certificates and time zones of Debian"),
              (image.top.tar(), f"{image.name} {facts['version']}")]
    place = os.path.join(output, image.name)
    name = f"{repository}{image.name}:{facts['version']}"
    manifest = layout.add_image(image.config(facts), layers, name)
    layout.write_to(place)
    with open(place + ".spdx.json", "w", encoding="utf-8") as file:
        json.dump(image.bill(facts), file, indent=1, sort_keys=True)
        file.write("\n")
    compressed = sum(len(data) for path, data in layout.files.items() if path.startswith("blobs/"))
    print(f"{place}.tar: {name}\n  {manifest['digest']}\n"
          f"  {megabytes(image.base.size() + image.top.size())} unpacked, {megabytes(compressed)} compressed")


def megabytes(size):
    return f"{size / 1e6:.1f} MB"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", required=True, help="the built program")
    parser.add_argument("--output", required=True, help="the folder to write to")
    parser.add_argument("--root", help="write only the file system, into this new folder")
    parser.add_argument("--repository", default="", help="what stands before the image's name, such as "
                        "registry.example/karmada")
    given = parser.parse_args()
    name = os.path.basename(given.binary)
    image = Image(given.binary, os.path.join(given.output, name + ".debug"))
    if given.root:
        write_root(image, given.root)
    else:
        write_image(image, given.output, given.repository and given.repository.rstrip("/") + "/")


if __name__ == "__main__":
    main()
