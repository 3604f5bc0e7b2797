"""A control group that limits the memory of the programs in it, as the kubelet makes one for a container.

It needs root and a mounted memory controller, of either version of control groups.
"""

import os
import pathlib
import stat

_V1 = pathlib.Path("/sys/fs/cgroup/memory")
_V2 = pathlib.Path("/sys/fs/cgroup")


class MemoryCgroup:
    def __init__(self, name, limit_bytes):
        self.is_v1 = (_V1 / "memory.limit_in_bytes").exists()
        if not self.is_v1 and "memory" not in self._controllers():
            raise SystemExit("rig: there is no memory controller below /sys/fs/cgroup: this test needs one, and root")
        self.folder = (_V1 if self.is_v1 else _V2) / name
        self.folder.mkdir(exist_ok=True)
        self._write("memory.limit_in_bytes" if self.is_v1 else "memory.max", limit_bytes)

    @staticmethod
    def _controllers():
        path = _V2 / "cgroup.subtree_control"
        return path.read_text().split() if path.exists() else []

    def _write(self, name, value):
        (self.folder / name).write_text(str(value))

    def wrapper(self, path, program):
        """Writes a script that runs the program in the group; the program keeps the script's process id."""
        path.write_text(f'#!/bin/sh\necho $$ > {self.folder}/cgroup.procs\nexec {program} "$@"\n')
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
        return path

    def kills(self):
        """How often the kernel has ended a process because of the limit."""
        text = (self.folder / ("memory.oom_control" if self.is_v1 else "memory.events")).read_text()
        return sum(int(line.split()[1]) for line in text.splitlines() if line.split()[0] == "oom_kill")

    def most_bytes(self):
        """The most that has been used at once, with files that the kernel had cached; 0 if it is not known."""
        path = self.folder / ("memory.max_usage_in_bytes" if self.is_v1 else "memory.peak")
        return int(path.read_text()) if path.exists() else 0

    def close(self):
        os.rmdir(self.folder)
