"""Control groups that limit the memory of a program, as the kubelet makes one for each container.

They need root and a mounted memory controller, of either version of control groups.
"""

import pathlib
import stat

_V1 = pathlib.Path("/sys/fs/cgroup/memory")
_V2 = pathlib.Path("/sys/fs/cgroup")

# The process keeps the script's id, and is alone in its group.
_SCRIPT = """#!/bin/sh
set -e
mkdir {prefix}-$$
echo {limit} > {prefix}-$$/{limit_file}
echo $$ > {prefix}-$$/cgroup.procs
exec {program} "$@"
"""


class MemoryLimit:
    """Each process that the wrapper starts gets a group of its own, so that several may run at once."""

    def __init__(self, name, limit_bytes):
        self.is_v1 = (_V1 / "memory.limit_in_bytes").exists()
        subtree = _V2 / "cgroup.subtree_control"
        if not self.is_v1 and not (subtree.exists() and "memory" in subtree.read_text().split()):
            raise SystemExit("rig: there is no memory controller below /sys/fs/cgroup: this test needs one, and root")
        self.parent, self.name, self.limit = (_V1 if self.is_v1 else _V2), name, limit_bytes

    def wrap(self, path, program):
        """Writes a script that runs the program below the limit."""
        path.write_text(_SCRIPT.format(prefix=self.parent / self.name, limit=self.limit, program=program,
                                       limit_file="memory.limit_in_bytes" if self.is_v1 else "memory.max"))
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
        return path

    def _groups(self):
        return list(self.parent.glob(f"{self.name}-*"))

    def kills(self):
        """How often the kernel has ended a process because of the limit."""
        name = "memory.oom_control" if self.is_v1 else "memory.events"
        lines = [line.split() for group in self._groups() for line in (group / name).read_text().splitlines()]
        return sum(int(words[1]) for words in lines if words[0] == "oom_kill")

    def most_bytes(self):
        """The most that one process has used at once, with files that the kernel had cached."""
        name = "memory.max_usage_in_bytes" if self.is_v1 else "memory.peak"
        return max((int((group / name).read_text()) for group in self._groups() if (group / name).exists()), default=0)

    def change(self, limit_bytes):
        """Gives the running processes another limit; the kernel refuses one that is less than what they use."""
        for group in self._groups():
            (group / ("memory.limit_in_bytes" if self.is_v1 else "memory.max")).write_text(str(limit_bytes))

    def close(self):
        for group in self._groups():
            group.rmdir()
