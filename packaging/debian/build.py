#!/usr/bin/env python3
"""Makes Debian packages of what `make install` installs.

    build.py --output build/packages

The packages of packages.py share out the files of `make install PREFIX=/usr`; a file that belongs to none of them, or
to two, is an error. Programs are stripped, and their debug information lies beside the packages (NAME.debug). The same
commit on the same Debian gives the same bytes.
"""
import argparse
import gzip
import os
import shutil
import subprocess
import sys
import tempfile
import textwrap
from email.utils import formatdate

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.path.dirname(os.path.dirname(HERE))
sys.path[:0] = [HERE, os.path.join(os.path.dirname(HERE), "image")]
# pylint: disable=wrong-import-position
import program as programs
from packages import PACKAGES


def run(*words, **more):
    return subprocess.run(words, check=True, stdout=subprocess.PIPE, text=True, **more).stdout


def version():
    lines = run(os.path.join(SOURCE, "scripts", "version.sh"), "all").splitlines()
    return dict(line.split("=", 1) for line in lines)


def maintainer(commit):
    """Who answers for the packages: $MAINTAINER, else who made the commit; outside of a git repository, where
    scripts/version.sh names no commit either, nobody."""
    if os.environ.get("MAINTAINER"):
        return os.environ["MAINTAINER"]
    if not commit:
        print("build.py: there is no git repository: the packages name no maintainer; set MAINTAINER",
              file=sys.stderr)
        return "Unknown <unknown@localhost.invalid>"
    return run("git", "-c", "safe.directory=*", "-C", SOURCE, "log", "-1", "--format=%an <%ae>", commit).strip()


def install(directory):
    """What users of `make install` get, below `directory`."""
    run("make", "-C", SOURCE, "install-files", f"DESTDIR={directory}", "PREFIX=/usr",
        "ZSH_COMPLETIONS=/usr/share/zsh/vendor-completions")
    found = []
    for folder, _, files in os.walk(directory):
        found += [os.path.relpath(os.path.join(folder, name), directory) for name in files]
    return sorted(found)


def shared_out(paths):
    """{package: its paths}; each path belongs to one package."""
    shares = {package: [] for package in PACKAGES}
    for path in paths:
        takers = [package for package in PACKAGES if package.takes(path)]
        if len(takers) != 1:
            names = ", ".join(package.name for package in takers) or "none"
            raise ValueError(f"{path} has to belong to one package of packages.py, and belongs to {names}")
        shares[takers[0]].append(path)
    return shares


def is_program(path):
    with open(path, "rb") as file:
        return file.read(4) == b"\x7fELF"


class Staged:
    """One package on its way: a folder that dpkg-deb packs."""

    def __init__(self, package, facts, scratch):
        self.package, self.facts = package, facts
        self.root = os.path.join(scratch, package.name)
        self.binaries = []

    def path(self, *parts):
        place = os.path.join(self.root, *parts)
        os.makedirs(os.path.dirname(place), exist_ok=True)
        return place

    def write(self, path, data, mode=0o644):
        place = self.path(path)
        with open(place, "wb") as file:
            file.write(data)
        os.chmod(place, mode)

    def take(self, installed, paths, debug_directory):
        for path in paths:
            source = os.path.join(installed, path)
            if os.path.islink(source):
                os.symlink(os.readlink(source), self.path(path))
            elif is_program(source):
                debug = os.path.join(debug_directory, os.path.basename(path) + ".debug")
                self.write(path, programs.split(source, debug), 0o755)
                self.binaries.append(self.path(path))
            elif path.startswith("usr/share/man/"):
                with open(source, "rb") as file:
                    self.write(path + ".gz", gzip.compress(file.read(), 9, mtime=0))
            else:
                shutil.copyfile(source, self.path(path))
                os.chmod(self.path(path), 0o755 if os.access(source, os.X_OK) else 0o644)

    def add_documents(self):
        folder = f"usr/share/doc/{self.package.name}"
        self.write(f"{folder}/copyright", copyright_text().encode())
        entry = (f"{self.package.name} ({self.facts['debian']}) unstable; urgency=medium\n\n"
                 f"  * Built from commit {self.facts['commit'] or 'unknown'}.\n\n"
                 f" -- {self.facts['maintainer']}  {formatdate(float(self.facts['epoch'] or 0))}\n")
        self.write(f"{folder}/changelog.gz", gzip.compress(entry.encode(), 9, mtime=0))

    def architecture(self):
        return run("dpkg", "--print-architecture").strip() if self.binaries else "all"

    def libraries(self):
        """Depends on the packages of the libraries that the programs need, in the versions that have their symbols."""
        if not self.binaries:
            return []
        os.makedirs(os.path.join(self.root, "DEBIAN"), exist_ok=True)  # By which it knows a package's folder.
        with tempfile.TemporaryDirectory() as scratch:
            os.mkdir(os.path.join(scratch, "debian"))
            with open(os.path.join(scratch, "debian", "control"), "w", encoding="utf-8") as file:
                file.write(f"Source: {self.package.name}\n\nPackage: {self.package.name}\nArchitecture: any\n")
            found = run("dpkg-shlibdeps", "-O", *(f"-e{path}" for path in self.binaries), cwd=scratch)
        return found.strip().removeprefix("shlibs:Depends=").split(", ")

    def control(self):
        fill = {"version": self.facts["debian"]}
        fields = {
            "Package": self.package.name,
            "Version": self.facts["debian"],
            "Architecture": self.architecture(),
            "Maintainer": self.facts["maintainer"],
            "Installed-Size": str(self.kibibytes()),
            "Depends": ", ".join(self.libraries() + [d.format(**fill) for d in self.package.depends]),
            "Recommends": ", ".join(r.format(**fill) for r in self.package.recommends),
            "Suggests": ", ".join(self.package.suggests),
            "Section": "admin",
            "Priority": "optional",
        }
        lines = [f"{name}: {value}" for name, value in fields.items() if value]
        text = "\n ".join(textwrap.wrap(" ".join(self.package.description.split()), 78))
        return "\n".join([*lines, f"Description: {self.package.summary}\n {text}"]) + "\n"

    def kibibytes(self):
        return sum((os.lstat(os.path.join(folder, name)).st_size + 1023) // 1024
                   for folder, _, files in os.walk(self.root) for name in files)

    def add_sums(self):
        names = sorted(os.path.relpath(os.path.join(folder, name), self.root)
                       for folder, _, files in os.walk(self.root) for name in files
                       if not os.path.islink(os.path.join(folder, name)) and "DEBIAN" not in folder)
        sums = run("md5sum", *names, cwd=self.root)
        self.write("DEBIAN/md5sums", sums.encode())

    def pack(self, output):
        control = self.control()
        self.add_sums()
        self.write("DEBIAN/control", control.encode())
        for folder, _, _ in os.walk(self.root):
            os.chmod(folder, 0o755)
        environment = dict(os.environ, SOURCE_DATE_EPOCH=self.facts["epoch"] or "0")
        return run("dpkg-deb", "--root-owner-group", "-Zxz", "--build", self.root, output,
                   env=environment).strip()


def copyright_text():
    """What the tree says about its licence, and no more."""
    text = "karmada-cpp, built from its git repository.\n\n"
    for name in ("LICENSE", "LICENSE.md", "COPYING"):
        if os.path.isfile(os.path.join(SOURCE, name)):
            with open(os.path.join(SOURCE, name), encoding="utf-8") as file:
                return text + "License:\n\n" + file.read()
    return text + textwrap.dedent("""\
        Copyright: the authors of its commits.

        License: the repository had no file that grants one when this package was built.

        Parts of RapidJSON, CLI11 and Boost are compiled in; their licences are in the Debian packages
        rapidjson-dev, libcli11-dev and libboost1.74-dev.
        """)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", required=True, help="the folder to write to; packages in it are removed")
    output = os.path.abspath(parser.parse_args().output)
    os.makedirs(output, exist_ok=True)
    for name in os.listdir(output):
        if name.endswith((".deb", ".debug")):
            os.remove(os.path.join(output, name))
    facts = version()
    facts["maintainer"] = maintainer(facts["commit"])
    with tempfile.TemporaryDirectory() as scratch:
        installed = os.path.join(scratch, "installed")
        for package, paths in shared_out(install(installed)).items():
            staged = Staged(package, facts, os.path.join(scratch, "staged"))
            staged.take(installed, paths, output)
            staged.add_documents()
            staged.pack(output)
    for name in sorted(os.listdir(output)):
        if name.endswith(".deb"):
            print(f"{os.path.join(output, name)}  {os.path.getsize(os.path.join(output, name)) / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
