"""Source trees of upstream: a folder, or a commit of a git repository (also one without a work tree)."""

import contextlib
import os
import pathlib
import re
import subprocess
import tarfile
import tempfile

# What is compared: nothing else is read from a commit. The libraries are those whose flags, gates, metrics and types show
# through in upstream's programs.
PARTS = (
    "go.mod", "cmd", "pkg", "charts", "artifacts", "hack", "operator", ".github/workflows", "docs/CHANGELOG",
    "docs/command-line-flags", "vendor/modules.txt", "vendor/k8s.io/api", "vendor/k8s.io/apiserver",
    "vendor/k8s.io/client-go", "vendor/k8s.io/component-base", "vendor/k8s.io/klog", "vendor/sigs.k8s.io/controller-runtime",
)


class Unreadable(Exception):
    """A tree cannot be read, or lacks what has to be in every tree of upstream."""


class Tree:
    def __init__(self, root, name):
        self.root = pathlib.Path(root)
        self.name = name
        if not (self.root / "pkg").is_dir() or not (self.root / "go.mod").is_file():
            raise Unreadable(f"{name}: no source tree of Karmada: it has no go.mod, or no folder pkg")
        go_mod = self.read("go.mod")
        self.module = re.search(r"^module\s+(\S+)", go_mod, re.MULTILINE).group(1)
        self.versions = dict(re.findall(r"^\s*(?:require\s+)?([\w./-]+\.[\w./-]+)\s+(v\S+)(?:\s*//\s*indirect)?\s*$", go_mod,
                                        re.MULTILINE))
        self.direct = {m for m, _ in re.findall(r"^\s*(?:require\s+)?([\w./-]+\.[\w./-]+)\s+(v\S+)\s*$", go_mod,
                                                re.MULTILINE)}

    def read(self, path):
        return (self.root / path).read_text(errors="replace")

    def has(self, path):
        return (self.root / path).exists()

    def files(self, *folders, suffixes, tests=False):
        """{path: text} of the files below the folders, without tests, generated code and test data."""
        found = {}
        for folder in folders:
            for path in sorted((self.root / folder).rglob("*")):
                relative = path.relative_to(self.root).as_posix()
                if not relative.endswith(suffixes) or not path.is_file():
                    continue
                if not tests and (relative.endswith("_test.go") or "/testdata/" in relative or "/testing/" in relative):
                    continue
                if path.name.startswith("zz_generated") or path.name.endswith(".pb.go"):
                    continue
                found[relative] = path.read_text(errors="replace")
        return found

    def library(self, module):
        """{path below the tree or the module: text} of a library's Go files, from vendor/ or from Go's module cache; None
        if it is in neither."""
        if (self.root / "vendor" / module).is_dir():
            return self.files("vendor/" + module, suffixes=(".go",))
        folder = module_cache() / f"{module}@{self.versions.get(module, '')}"
        if not folder.is_dir():
            return None
        return {f"vendor/{module}/{path.relative_to(folder).as_posix()}": path.read_text(errors="replace")
                for path in sorted(folder.rglob("*.go")) if not path.name.endswith("_test.go")}


def module_cache():
    if "GOMODCACHE" in os.environ:
        return pathlib.Path(os.environ["GOMODCACHE"])
    return pathlib.Path(os.environ.get("GOPATH") or pathlib.Path.home() / "go") / "pkg" / "mod"


def git(repository, *arguments):
    command = ["git", "-c", "safe.directory=*", "-C", str(repository), *arguments]
    done = subprocess.run(command, capture_output=True, check=False)
    if done.returncode:
        raise Unreadable(f"git {' '.join(arguments[:2])}: {done.stderr.decode(errors='replace').strip()}")
    return done.stdout


def is_work_tree(folder):
    return (pathlib.Path(folder) / "go.mod").is_file()


def is_repository(folder):
    """Whether the folder itself is one, with or without a work tree; one around it does not count."""
    try:
        above = git(folder, "rev-parse", "--absolute-git-dir").decode().strip()
    except Unreadable:
        return False
    return os.path.realpath(folder) in (os.path.realpath(above), os.path.dirname(os.path.realpath(above)))


@contextlib.contextmanager
def commit(repository, ref):
    """A Tree of the commit, in a temporary folder."""
    name = git(repository, "describe", "--tags", "--always", ref).decode().strip()
    there = set(git(repository, "ls-tree", "-r", "--name-only", ref).decode().splitlines())
    parts = [p for p in PARTS if p in there or any(f.startswith(p + "/") for f in there)]
    with tempfile.TemporaryDirectory() as folder:
        archive = pathlib.Path(folder) / "tree.tar"
        git(repository, "archive", f"--output={archive}", ref, "--", *parts)
        with tarfile.open(archive) as tar:
            # No links: nothing that is compared is one, and what is read stays below the folder.
            tar.extractall(pathlib.Path(folder) / "tree", [m for m in tar.getmembers() if m.isfile() or m.isdir()])
        yield Tree(pathlib.Path(folder) / "tree", name)


@contextlib.contextmanager
def opened(upstream, ref=None):
    """The tree of `upstream`: a folder with sources, or a git repository, of which `ref` (HEAD) is taken."""
    if not os.path.isdir(upstream):
        raise Unreadable(f"{upstream}: no such folder")
    if ref is None and is_work_tree(upstream):
        yield Tree(upstream, name_of(upstream))
    elif not is_repository(upstream):
        raise Unreadable(f"{upstream}: neither a source tree of Karmada nor a git repository")
    else:
        with commit(upstream, ref or "HEAD") as tree:
            yield tree


def name_of(folder):
    """What git calls the folder's commit, else the folder's name."""
    with contextlib.suppress(Unreadable):
        top = git(folder, "rev-parse", "--show-toplevel").decode().strip()
        if os.path.realpath(top) == os.path.realpath(folder):
            return git(folder, "describe", "--tags", "--always", "--dirty").decode().strip()
    return os.path.basename(os.path.abspath(folder))
