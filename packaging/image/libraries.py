"""The shared libraries that a program is started with, found as the loader finds them."""
import os
import re
import subprocess

# What readelf calls a machine -> (the folder of Debian's libraries for it, the name in images and packages).
MACHINES = {
    "Advanced Micro Devices X86-64": ("x86_64-linux-gnu", "amd64"),
    "AArch64": ("aarch64-linux-gnu", "arm64"),
}

# Libraries that a program names in LD_PRELOAD, which none of its headers mentions. With --enable-pprof that is the allocator
# that can say who holds memory (base/profiling/heap_profile.cc).
PRELOADED = {"karmada-controller-manager": ("libtcmalloc.so.4",)}


class Elf:
    """What the headers of a program or a library say."""

    def __init__(self, path):
        said = subprocess.run(["readelf", "--wide", "-h", "-l", "-d", path], check=True,
                              capture_output=True, text=True, env=dict(os.environ, LC_ALL="C")).stdout
        machine = re.search(r"Machine:\s+(.*)", said).group(1)
        if machine not in MACHINES:
            raise ValueError(f"{path} is for {machine}; images are made for {', '.join(MACHINES)}")
        self.folder, self.architecture = MACHINES[machine]
        found = re.search(r"Requesting program interpreter: ([^\]]+)\]", said)
        self.loader = found.group(1) if found else None
        self.needed = re.findall(r"\(NEEDED\)\s+Shared library: \[([^\]]+)\]", said)
        if re.search(r"\((RPATH|RUNPATH)\)", said):
            raise ValueError(f"{path} names folders of its own for libraries, which an image does not have")


def find(name, folder):
    """The path of a library as the loader looks for it when it has no cache."""
    for directory in (f"/lib/{folder}", f"/usr/lib/{folder}", "/lib", "/usr/lib"):
        path = os.path.join(directory, name)
        if os.path.exists(path):
            return path
    raise FileNotFoundError(f"the library {name} is not on this machine")


def needed_by(program):
    """{name: path} of all libraries that `program` needs, directly or through others, and of those that it has preloaded
    when it starts itself anew; without the loader."""
    elf = Elf(program)
    loader = os.path.basename(elf.loader or "")
    found = {}
    waiting = [*elf.needed, *PRELOADED.get(os.path.basename(program), ())]
    while waiting:
        name = waiting.pop()
        if name in found or name == loader:
            continue
        found[name] = find(name, elf.folder)
        waiting.extend(Elf(found[name]).needed)
    return dict(sorted(found.items()))
