"""Which Debian packages files of this machine come from, and what dpkg knows about those."""
import os
import subprocess
from dataclasses import dataclass


@dataclass(frozen=True)
class Package:
    """A Debian package of this machine; `name` is without the architecture."""

    name: str
    version: str
    architecture: str
    source: str
    source_version: str
    status: str  # Its stanza in dpkg's list.

    @property
    def copyright(self):
        return f"/usr/share/doc/{self.name}/copyright"


def dpkg_query(*words):
    return subprocess.run(["dpkg-query", *words], check=True, capture_output=True, text=True,
                          env=dict(os.environ, LC_ALL="C")).stdout


def package(name):
    """The package of that name, which may have an architecture behind a colon."""
    shown = dpkg_query("-W", "-f", "${Package}\n${Version}\n${Architecture}\n${source:Package}\n"
                       "${source:Version}\n", name).split("\n")
    return Package(*shown[:5], status=dpkg_query("-s", name).strip() + "\n")


def files_of(name):
    """The paths that the package of that name has put on this machine, folders too."""
    return dpkg_query("-L", name).split("\n")[:-1]


def is_installed(name):
    shown = subprocess.run(["dpkg-query", "-W", "-f", "${db:Status-Abbrev}", name], capture_output=True,
                           text=True, check=False)
    return shown.stdout.startswith("ii")


def owners_of(paths):
    """{path: Package}. Raises LookupError for a file of no package."""
    candidates = {path: names_of(path) for path in paths}
    # One question for all, because dpkg reads its whole list for each; it fails when one candidate is unknown.
    said = subprocess.run(["dpkg-query", "-S", *{name for names in candidates.values() for name in names}],
                          capture_output=True, text=True, check=False).stdout
    owner_names = {}
    for line in said.splitlines():
        owner, _, path = line.partition(": ")
        owner_names[path] = owner.split(",")[0]
    packages, owners = {}, {}
    for path, names in candidates.items():
        name = next((owner_names[name] for name in names if name in owner_names), None)
        if name is None:
            raise LookupError(f"{path} belongs to no Debian package, so nobody can say where it comes from")
        if name not in packages:
            packages[name] = package(name)
        owners[path] = packages[name]
    return owners


def names_of(path):
    """How dpkg may know a file: with or without links followed and /usr in front, below which Debian moved /lib."""
    real = os.path.realpath(path)
    return [path, real, path.removeprefix("/usr"), real.removeprefix("/usr"), "/usr" + path]
