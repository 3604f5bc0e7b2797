"""A Debian 12 with nothing in it but what every Debian has, made once by debootstrap, and copies of it to install into."""
import os
import pathlib
import shutil

import places

PLAIN = places.SCRATCH / "debian"
MINUTES = 60


def mirror():
    """From where this machine gets its own packages."""
    lines = places.run("apt-get", "indextargets", "--format", "$(REPO_URI)", "Created-By: Packages",
                       "Codename: bookworm").stdout.split()
    if not lines:
        raise AssertionError("apt knows no source of bookworm; run apt-get update")
    return lines[0]


def plain():
    """The folder with the plain Debian."""
    if not (PLAIN / "etc" / "debian_version").exists():
        made = places.scratch("debian.new")
        shutil.rmtree(made)
        places.run("debootstrap", "--variant=minbase", "bookworm", made, mirror(), timeout=10 * MINUTES)
        made.rename(PLAIN)
    return PLAIN


class CleanDebian:
    """A copy of the plain Debian in `place`. Its apt has this machine's sources."""

    def __init__(self, place):
        places.need_root()
        self.root = pathlib.Path(place)
        shutil.rmtree(self.root, ignore_errors=True)
        places.run("cp", "-a", "--reflink=auto", plain(), self.root)
        for path in ("etc/apt/sources.list.d/debian.sources", "etc/apt/sources.list", "etc/resolv.conf", "etc/hosts"):
            if os.path.exists(f"/{path}"):
                shutil.copyfile(f"/{path}", self.root / path)

    def run(self, *words, check=True, **more):
        """Runs a command in it as root, with /proc, /dev and the network of this machine."""
        script = ('set -e; mount --rbind /dev "$1/dev"; mount -t proc proc "$1/proc"; root=$1; shift; '
                  'exec env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 '
                  'DEBIAN_FRONTEND=noninteractive chroot "$root" "$@"')
        return places.run("unshare", "--mount", "--pid", "--fork", "--kill-child", "--propagation", "private", "bash", "-c",
                          script, "run", self.root, *words, check=check, timeout=5 * MINUTES, **more)

    def install(self, *packages):
        """Installs packages of Debian, or files of this machine, with what they depend on and nothing else."""
        names = []
        for package in packages:
            if os.path.isfile(package):
                shutil.copy(package, self.root / "tmp")
                package = f"/tmp/{os.path.basename(package)}"
            names.append(package)
        self.run("apt-get", "-q", "update")
        self.run("apt-get", "-q", "install", "-y", "--no-install-recommends", *names)
